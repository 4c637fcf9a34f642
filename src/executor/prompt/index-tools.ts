import { systemClock } from '../../base/clock.js';
import { pause } from '../../base/pause.js';
import { asBusError } from '../../errors/bus-error.js';
import type { Tool as ModelTool } from '../../model/conversation.js';
import { engineName } from '../../pgc/shapes.js';
import { toolOf } from '../../prompt/agent/agent-tools.js';
import { askingOver } from '../../operations/asking.js';
import { inputOf, textOf, type Operation } from '../../operations/operation.js';
import { blastRadius, locate } from '../../operations/analysis.js';
import { ask } from '../../operations/ask.js';
import { callees, callers, trace } from '../../operations/graph.js';
import { verifyCitations } from '../../operations/verify.js';
import type { AgentBus } from './agent-bus.js';

/** What an agent can ask of the index: the tools of the MCP server, with their bounds. They change nothing. */
// Each has arguments of its own, which it checks itself.
// oxlint-disable-next-line typescript/no-explicit-any
const tools = new Map<string, Operation<any>>(
  [ask, callers, callees, trace, blastRadius, locate, verifyCitations].map((each) => [
    each.name,
    each,
  ]),
);

/** Without a language model in the index: the caller is one already. */
const fixed: ReadonlyMap<string, object> = new Map([[ask.name, { engine: engineName }]]);

export const indexTools: readonly ModelTool[] = [...tools.values()].map((each) => {
  const tool = toolOf(each.name, each.description, inputOf(each));
  const given = Object.entries(tool.parameters.properties as Record<string, unknown>);
  const known = fixed.get(each.name) ?? {};
  const properties = Object.fromEntries(given.filter(([key]) => !Object.hasOwn(known, key)));
  return { ...tool, parameters: { ...tool.parameters, properties } };
});

/** How long an index that is away is waited for: a restart takes that long. */
const awayMsMax = 20_000;
const againMs = 1_000;

/** Undefined: there is no such tool. Throws TOOL_INPUT, and the errors of the answering agent. */
export async function askIndex(
  name: string,
  args: Record<string, unknown>,
  { bus, signal, tell }: { bus: AgentBus; signal: AbortSignal; tell: (doing: string) => void },
): Promise<string | undefined> {
  const tool = tools.get(name);
  if (tool === undefined) return undefined;
  const its = askingOver(() => bus.client());
  const untilMs = performance.now() + awayMsMax;
  for (;;) {
    try {
      return await textOf(tool, { ...args, ...fixed.get(name) }, { bus: its, signal, tell });
    } catch (error) {
      const isAway = asBusError(error).code === 'NO_SHARDS';
      if (!isAway || signal.aborted || performance.now() > untilMs) throw error;
    }
    await pause(systemClock, againMs, signal);
  }
}
