// The job `exported`: what pi goes on with in a project, with a folder in place of its own.

import { SessionManager } from "./pi.mjs";

export function exported({ folder, cwd }) {
	const before = process.env.PI_CODING_AGENT_DIR;
	process.env.PI_CODING_AGENT_DIR = folder;
	try {
		const session = SessionManager.continueRecent(cwd);
		return { ok: true, id: session.getSessionId(), leaf: session.getLeafId(), file: session.getSessionFile() };
	} finally {
		process.env.PI_CODING_AGENT_DIR = before;
	}
}
