import { z } from 'zod';
import type { TreeState } from '../pgc/plan/tree-state.js';
import { statesText } from '../render/tree-state.js';
import type { Call, Operation, Reply } from './operation.js';

/** An answer does not wait longer to learn of which state it is. */
const statesMsMax = 2_000;
/** Values of an answer that are looked at for names of agents and files. */
const valuesMax = 50_000;

const stateOutput = z.looseObject({
  project: z.string(),
  commit: z.string().describe('At which the work tree stood when it was indexed.'),
  files_changed: z.number().describe('Indexed files that have changed since.'),
  changed: z.array(z.string()).describe('Files of this answer that have changed since.'),
});

/** An operation whose answers say of which state of the tree they are, and how far the tree has gone on since. */
export function dated<Input extends z.ZodObject>(operation: Operation<Input>): Operation<Input> {
  return {
    ...operation,
    output: operation.output.extend({ trees: z.array(stateOutput) }),
    run: async (input, call) => {
      const reply = await operation.run(input, call);
      return reply.rows === undefined ? withStates(reply, call) : reply;
    },
  };
}

/** Without what failed: the answer is worth more than its date. */
async function withStates<V extends object>(
  reply: Reply<V>,
  { bus, deadlineMs, signal }: Call,
): Promise<Reply<V>> {
  const options = { deadlineMs: Math.min(deadlineMs, statesMsMax), signal };
  const trees = await bus.states(namesIn(reply.value), options).catch((): TreeState[] => []);
  const below = (text: string): string =>
    trees.length === 0 ? text : `${text}\n\n${statesText(trees)}`;
  const { text, screen, structure = (part: V): object => part, document = reply.value } = reply;
  return {
    ...reply,
    text: (part) => below(text(part)),
    ...(screen !== undefined && { screen: (part, isPlain) => below(screen(part, isPlain)) }),
    structure: (part) => ({ ...structure(part), trees }),
    document: { ...document, trees },
  };
}

/** All agents and files that an answer names, wherever it does. */
function namesIn(value: object): { agents: string[]; paths: string[] } {
  const agents = new Set<string>();
  const paths = new Set<string>();
  const left: unknown[] = [value];
  for (let seen = 0; left.length > 0 && seen < valuesMax; seen += 1) {
    const next = left.pop();
    if (typeof next !== 'object' || next === null) continue;
    for (const [key, each] of Object.entries(next)) {
      if (typeof each === 'object') left.push(each);
      else if (typeof each === 'string' && each !== '') {
        if (key === 'agent') agents.add(each);
        else if (key === 'file_path' || key === 'path') paths.add(each);
      }
    }
  }
  return { agents: [...agents], paths: [...paths] };
}
