// Opens each session file of a folder with pi, which migrates and rewrites it in place.
// A file on which pi throws is removed.
import { readdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [, , packagePath, folder] = process.argv;
const manager = join(packagePath, "dist", "core", "session-manager.js");
const { SessionManager } = await import(pathToFileURL(manager).href);
for (const name of readdirSync(folder)) {
  const path = join(folder, name);
  try {
    SessionManager.open(path, folder);
  } catch {
    unlinkSync(path);
  }
}
