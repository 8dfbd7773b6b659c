// Where the real programs are that pins.txt names. Import it first: judges change their environment.

import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "leafline");
const lines = readFileSync(join(import.meta.dirname, "pins.txt"), "utf8").split("\n");

/** The folder in which `./setup` installs a program, and the folder of its first package there. */
export function installed(name) {
  const [, , first] = lines.map((line) => line.split(/ +/)).find(([own]) => own === name);
  const at = first.lastIndexOf("@");
  const folder = join(cache, name, first.slice(at + 1));
  return { folder, package: join(folder, "node_modules", first.slice(0, at)) };
}
