// Runs what `leafline resume` prints with the real programs, against stand-ins of the model's APIs.
//
// A job is {"op":"resume","command":[...],"home":"...","cwd":"..."}: the command as it was printed, with the home folder and the
// directory in which it is run; "before" is a command that is run first, if there is one. The answer has what the program sent
// with its prompt: {"ok":true,"sent":"..."}.
//
// `node judge.mjs FOLDER PROGRAM` asks the version of pi whose package is in this folder, run by this program: Node or bun.
//
// {"op":"claude","arguments":[...],"answers":[[...]],"home":"...","cwd":"..."} runs Claude Code with these arguments; the model gives
// the answers in turn, each a list of blocks. It keeps files as they were before each prompt. The answer is {"ok":true}.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { program as claude } from "../claude-judge/claude.mjs";
import { StandIn as ClaudeApi } from "../claude-judge/stand-in.mjs";
import { program as codex } from "../codex-judge/codex.mjs";
import { StandIn as CodexApi } from "../codex-judge/stand-in.mjs";
import { Home } from "../judges/home.mjs";
import { answerJobs } from "../judges/jobs.mjs";
import { installed } from "../judges/pins.mjs";

const PROBE = "PROBE";
const [, , ofPi, runner = process.execPath] = process.argv;
const pi = ofPi ?? process.env.LEAFLINE_PI ?? installed("pi-0.73").package;
const omp = process.env.LEAFLINE_OMP ?? installed("omp").package;

/** A provider that pi and omp are told of, which speaks as Anthropic does. */
function provider(folder, url) {
  const models = [{ id: "stand-in", name: "stand-in", input: ["text"], contextWindow: 200000, maxTokens: 4096, reasoning: false }];
  const local = { baseUrl: url, api: "anthropic-messages", apiKey: "x", models };
  mkdirSync(folder, { recursive: true });
  for (const name of ["models.json", "models.yml"]) {
    writeFileSync(join(folder, name), JSON.stringify({ providers: { local } }));
  }
}

/** How each program is run without a terminal: the program, what comes before the printed arguments and behind them, and more of the environment. */
const programs = {
  pi(home, url) {
    provider(join(home, ".pi/agent"), url);
    const flags = ["-p", "--provider", "local", "--model", "stand-in", "--no-tools", PROBE];
    return { program: runner, before: [join(pi, "dist/cli.js")], behind: flags, env: { PI_OFFLINE: "1" } };
  },
  omp(home, url) {
    provider(join(home, ".omp/agent"), url);
    const flags = ["-p", "--model", "local/stand-in", "--no-tools", PROBE];
    return { program: join(omp, "../../.bin/bun"), before: [join(omp, "dist/cli.js")], behind: flags, env: {} };
  },
  claude(_, url) {
    const env = {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: "x",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      DISABLE_AUTOUPDATER: "1",
      IS_SANDBOX: "1",
    };
    return { program: claude, before: [], behind: ["-p", PROBE, "--output-format", "json"], env };
  },
  codex(home, _, url) {
    const folder = join(home, ".codex");
    mkdirSync(folder, { recursive: true });
    const config = ["model = \"gpt-5\"", "model_provider = \"local\"", "[model_providers.local]", "name = \"local\""];
    config.push(`base_url = "${url}"`, "wire_api = \"responses\"", "env_key = \"LOCAL_KEY\"", "");
    writeFileSync(join(folder, "config.toml"), config.join("\n"));
    // `codex resume` needs a terminal; `codex exec resume` goes on with the same session without one.
    const before = ["exec", "--skip-git-repo-check"];
    return { program: codex, before, behind: [PROBE], env: { LOCAL_KEY: "x" } };
  },
};

async function resume({ command, before: first, home, cwd }) {
  const [name, ...printed] = command;
  const [asked, other] = [new ClaudeApi(), new CodexApi()];
  await Promise.all([asked.start(), other.start()]);
  const run = asked.begin();
  const place = new Home("resume");
  try {
    const { program, before, behind, env } = programs[name](home, run.url, other.url);
    if (!existsSync(program)) throw new Error(`${program} is not installed`);
    const all = { env: { ...env, HOME: home, TMPDIR: tmpdir() }, cwd };
    if (first) {
      const { code, errors } = await place.run(program, first.slice(1), all);
      if (code !== 0) throw new Error(`${first.join(" ")}: ${errors}`);
    }
    const { code, out, errors } = await place.run(program, [...before, ...printed, ...behind], all);
    const requests = [...run.requests.map((body) => body.messages), ...other.requests.map((body) => body.input)];
    const sent = requests.map((body) => JSON.stringify(body)).find((body) => body.includes(PROBE));
    if (!sent) throw new Error(`nothing was sent, and it ended with ${code}: ${errors.trim() || out.trim()}`);
    return { ok: true, sent };
  } finally {
    place.remove();
    asked.stop();
    other.stop();
  }
}

async function claudeWith({ arguments: args, answers, home, cwd }) {
  const api = new ClaudeApi();
  await api.start();
  const run = api.begin();
  run.script.push(...answers.map((blocks) => ({ blocks })));
  const place = new Home("claude");
  try {
    const { program, env } = programs.claude(home, run.url);
    const all = { env: { ...env, HOME: home, CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING: "1" }, cwd };
    const { code, out, errors } = await place.run(program, args, all);
    if (code !== 0) throw new Error(errors.trim() || out.trim() || `it ended with ${code}`);
    return { ok: true };
  } finally {
    place.remove();
    api.stop();
  }
}

await answerJobs({ claude: claudeWith, resume });
