import { z } from 'zod';
import type { TreeState } from '../pgc/plan/tree-state.js';
import { isWithin } from '../remote/shards.js';
import { line, shellWord } from '../render/terminal.js';
import { statesText } from '../render/tree-state.js';
import type { Call, Operation, Reply } from './operation.js';

/** An answer does not wait longer to learn of which state it is. */
const statesMsMax = 2_000;
/** Values of an answer that are looked at for names of agents and files, and what is sent of them. */
const valuesMax = 50_000;
const pathsMax = 2_000;
const agentsMax = 256;

const stateOutput = z.looseObject({
  project: z.string(),
  commit: z.string().describe('At which the work tree stood when it was indexed.'),
  compared: z.string().describe('Which files were compared: all, those shown, or none.'),
  files_changed: z.number().describe('Of those, how many have changed since.'),
  changed: z.array(z.string()).describe('Files of this answer that have changed since.'),
});

/** An operation whose answers say of which state of the tree they are, and how far the tree has gone on since. */
export function dated<Input extends z.ZodObject>(operation: Operation<Input>): Operation<Input> {
  return {
    ...operation,
    output: operation.output.extend({ trees: z.array(stateOutput) }),
    run: async (input, call) => {
      const before = await statesFor(call);
      const reply = await operation.run(input, call);
      if (reply.rows !== undefined) return reply;
      if (reply.isDateless === true) return stateless(reply);
      const after = await statesFor(call, namesIn(reply.value as object));
      const began = new Map(before.map(({ root, index }) => [root, index]));
      const trees = after.map((state) => ({
        ...state,
        is_replaced: state.is_replaced || (began.get(state.root) ?? state.index) !== state.index,
      }));
      if (trees.length === 0) return stateless(reply);
      const isOwn =
        call.person === 'caller' || trees.some(({ root }) => isWithin(call.bus.folder, root));
      return withStates(reply, trees, isOwn ? '' : unindexed(call.bus.folder));
    },
  };
}

interface Names {
  agents: string[];
  paths: string[];
}

/** Without what failed: the answer is worth more than its date. */
function statesFor({ bus, deadlineMs, signal }: Call, names?: Names): Promise<TreeState[]> {
  const { agents, paths } = names ?? { agents: [], paths: [] };
  const options = { deadlineMs: Math.min(deadlineMs, statesMsMax), signal };
  const request = { agents, paths, compares: names !== undefined };
  return bus.states(request, options).catch(() => []);
}

/** A model that works in a folder takes an answer for one about that folder. */
function unindexed(folder: string): string {
  return line`\nThis folder has no index, and the answer is not about it: run \`sigma up ${shellWord(folder)}\` once.`;
}

/** The schema of its answer has them, even where there are none. */
function stateless<V extends object>(reply: Reply<V>): Reply<V> {
  const { structure = (part: V): object => part } = reply;
  return { ...reply, structure: (part) => ({ ...structure(part), trees: [] }) };
}

function withStates<V extends object>(
  reply: Reply<V>,
  trees: readonly TreeState[],
  note: string,
): Reply<V> {
  const { text, screen, structure = (part: V): object => part, document = reply.value } = reply;
  /** Of what is left out of the part, nothing is named. */
  const treesOf = (part: V): TreeState[] => {
    const shown = new Set(namesIn(part).paths);
    return trees.map(({ changed, ...its }) => ({
      ...its,
      changed: changed.filter((path) => shown.has(path)),
    }));
  };
  return {
    ...reply,
    text: (part) => `${text(part)}\n\n${statesText(treesOf(part))}${note}`,
    ...(screen !== undefined && {
      screen: (part, isPlain) => `${screen(part, isPlain)}\n\n${statesText(treesOf(part))}`,
    }),
    structure: (part) => ({ ...structure(part), trees: treesOf(part) }),
    document: { ...document, trees },
  };
}

/** `path:line` or `path:from-to`. */
const place = /^([^\n]{1,4096}?):\d+(?:-\d+)?$/;

/** All agents that an answer names, and all that may be a file, wherever it does. */
function namesIn(value: object): Names {
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
        else paths.add(place.exec(each)?.[1] ?? '');
      }
    }
  }
  paths.delete('');
  return { agents: [...agents].slice(0, agentsMax), paths: [...paths].slice(0, pathsMax) };
}
