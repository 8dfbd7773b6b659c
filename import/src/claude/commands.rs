//! The commands that are built into Claude Code.

/// Names and aliases of the commands of Claude Code 2.1.332 that are not skills, and of earlier versions: what the user types
/// after them is no prompt. In the order of their bytes.
#[rustfmt::skip]
const BUILT_IN: [&str; 142] = [
    "add-dir", "advisor", "agents", "allowed-tools", "android", "app", "approved-tools",
    "artifacts", "auto-mode-setup", "autocompact", "autofix-pr", "background", "bashes", "bg",
    "branch", "break-reminder", "breaks", "brief", "btw", "bug", "cd", "checkpoint", "chrome",
    "clear", "cloud-plugins", "color", "compact", "config", "context", "continue", "copy", "cost",
    "ctx_viz", "design-consent", "design-login", "design-revoke", "desktop", "diff", "downtime",
    "effort", "exit", "export", "extra-usage", "fast", "feedback", "focus", "fork", "goal",
    "heapdump", "help", "hooks", "ide", "import", "init", "insights", "install",
    "install-github-app", "install-slack-app", "ios", "keybindings", "list-agents", "login",
    "logout", "marketplace", "mcp", "memory", "memory-pause", "migrate-installer", "mobile",
    "model", "name", "new", "output-style", "output-style:new", "passes", "pause-memory", "peers",
    "permissions", "plan", "plugin", "plugins", "powerup", "pr-comments", "privacy-settings",
    "pro-trial-expired", "quit", "radio", "rate-limit-options", "rc", "recap", "release-notes",
    "reload-plugins", "reload-skills", "remote", "remote-control", "remote-env", "rename", "reset",
    "restart", "resume", "rewind", "sandbox", "scroll-speed", "security-review", "session",
    "settings", "setup-bedrock", "setup-vertex", "share", "skill-doctor", "skills", "stats",
    "status", "statusline", "stickers", "stop", "subtask", "tasks", "team-onboarding", "teleport",
    "terminal-setup", "theme", "think-back", "thinkback", "todos", "toggle-memory", "tp", "tui",
    "ultraplan", "ultrareview", "undo", "update", "upgrade", "usage", "usage-credits", "use-case",
    "version", "vim", "voice", "web-setup", "wellbeing", "workflows",
];

/// Whether a command, named without its slash, is built in.
pub(super) fn is_built_in(name: &str) -> bool {
    BUILT_IN.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(BUILT_IN.is_sorted());
        assert!(is_built_in("clear") && is_built_in("cost") && !is_built_in("code-review"));
    }
}
