/** The instructions of this server, which a model reads first. */
export const instructions = `Sigma Bus: agents that have each indexed one part (a shard) of a large code base, and answer questions about it in milliseconds with sources as path:line.
Discover first: list_agents says who knows which paths. Ask the agent that owns the code (query_agent, ask) instead of reading its files; take query_lattice for what crosses shards, callers / references / callees / implementations / trace / blast_radius for exact relations, locate for a bug report.
Work that takes longer than a question, or that belongs to another agent, goes to delegate_task, with criteria and grounding: its evidence is checked before it counts. sigma_task_update keeps your list of tasks.
Check evidence with verify_citations before you rely on them; an answer that says \`partial\` or names errors is not the whole truth.
A failed call holds one JSON line { "error": { code, text, retryable, next } }: do what \`next\` says. A truncated answer says in \`rest\` how to get the rest.`;

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
