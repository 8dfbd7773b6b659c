// Has pi's own SessionManager open sessions, play on them or list a folder of them, and tells what it saw.
//
// Reads jobs as JSON lines from standard input and answers each with one JSON line. README.md says what they hold.

import { answerJobs } from "../judges/jobs.mjs";
import { exported } from "./exported.mjs";
import { list } from "./list.mjs";
import { describe, flatten, MOST_NODES, survey } from "./observe.mjs";
import { SessionManager } from "./pi.mjs";
import { play } from "./play.mjs";

function load({ path }) {
	const session = SessionManager.open(path);
	const { upwards, downwards, nodes } = survey(session);
	if (!downwards && nodes > MOST_NODES) throw new Error(`the tree has more than ${MOST_NODES} nodes`);
	return {
		file: path,
		ok: true,
		...describe(session),
		loops: { upwards, downwards },
		path: upwards ? null : session.getBranch().map((entry) => entry.id),
		context: upwards ? null : session.buildSessionContext(),
		tree: downwards ? null : flatten(session.getTree()),
	};
}

/** What is wrong with a file is told with its path. */
function loadOrError(job) {
	try {
		return load(job);
	} catch (error) {
		return { file: job.path, ok: false, error: String(error?.message ?? error) };
	}
}

await answerJobs({ exported, list, load: loadOrError, play });
