/** The instructions of this server, which a model reads first. */
export const instructions = `Sigma Bus: agents that have indexed this code base answer in milliseconds, with source lines as path:line.
Begin with explore (a question, an error in quotes, a stack trace, or names) instead of searching and reading files; go deeper with its \`more\` id. Use symbol before you change something, trace for how one function reaches another, locate for a bug report. list_agents and query_agent reach one agent.
What is marked possible, or not shown, is not proved. A failure holds code, text, retryable and next: do what \`next\` says.`;

/** The text of the prompt `discover-then-delegate`. */
export function discoverThenDelegate(goal: string): string {
  return `Goal: ${goal}

You are one of several agents on a bus. Others have indexed the code base this goal is about, and know their parts of it better than you could by reading. Find out who they are before you open a file.

1. Look round. Call list_agents (with \`path\` or \`project\` where the goal names one). Note whose scope covers which part, and which of them are online.
2. Leave their code to them. For everything that lies in another agent's scope, ask it: query_agent with a question that names symbols, paths or messages. Read files yourself only where they are few, in your own working directory, and in nobody's scope.
3. Follow what crosses. When one part hands over to another (a driver to the memory manager, a client to a server), ask query_lattice once instead of asking agent after agent. For exact relations use callers, callees and trace; for a bug report begin with locate.
4. Before a change, ask blast_radius for every symbol that others use, and security_blast_radius where data from outside comes in.
5. Delegate what is a piece of work of its own: delegate_task, when it needs several questions, changes files in another agent's scope, or can go on while you do something else. Say what is to be done, when it counts as done (criteria with checks where you can), and how it is grounded (kind or strategy, query_hints, overlay_hints). A question with one answer needs no task: ask it. What comes back was checked against the files; still read its verdict, its confidence and its unmet or unchecked criteria. If it asks, tell the person you work for.
6. Keep the point, not the page: of each answer carry on two or three sentences with their path:line, not the JSON.
7. Check before you build on it. Give the evidence you rely on to verify_citations; drop what is false, look again at what is stale. If an answer is partial, names errors or has low confidence, say so in your result.
8. If a call fails, read its \`code\` and \`next\`. What is retryable may be tried again once; an agent that is offline may be left a message with send_agent_message.

Then do the work, and name the sources your result rests on.`;
}
