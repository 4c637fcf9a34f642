import { BusError } from '../errors/bus-error.js';
import { registry, type AnyOperation } from './registry.js';

/** What a client is offered together. A client reads each tool before its first question: few that are called beat many that are not. */
const sets: Readonly<Record<string, readonly string[]>> = {
  core: ['explore', 'symbol', 'trace', 'locate', 'list_agents', 'query_agent'],
  code: [
    ...['ask', 'query_lattice', 'callers', 'references', 'callees', 'implementations'],
    ...['blast_radius', 'security_blast_radius', 'verify_citations'],
  ],
  tasks: ['delegate_task', 'task_status'],
  todo: ['sigma_task_update'],
  attention: ['attend', 'list_gates', 'judge_gate'],
  prompts: ['run', 'push', 'queue', 'queue_run', 'kill', 'send', 'receive', 'check', 'inbox'],
  critic: ['critique', 'critique_history'],
  mail: ['send_agent_message', 'list_pending_messages', 'mark_message_read'],
};

export const setNames = Object.keys(sets);
export const setsDefault: readonly string[] = ['core'];

const all = 'all';

async function byName(): Promise<Map<string, AnyOperation>> {
  const loaded = await Promise.all(registry.map(({ load }) => load()));
  const tools = loaded.flat().filter(({ isTool }) => isTool !== false);
  return new Map(tools.map((each) => [each.name, each]));
}

/** The tools of these sets, `all` of them for all, always in the same order. Throws USAGE. */
export async function toolsOf(names: readonly string[]): Promise<AnyOperation[]> {
  const unknown = names.find((each) => each !== all && !setNames.includes(each));
  if (unknown !== undefined) {
    const detail = `there is no set of tools ${unknown}; there are ${setNames.join(', ')} and ${all}`;
    throw new BusError('USAGE', { detail });
  }
  const known = await byName();
  const wanted = setNames.filter((each) => names.includes(each) || names.includes(all));
  return wanted.flatMap((each) => sets[each] ?? []).flatMap((each) => known.get(each) ?? []);
}

/** Tools that no set has, or that no operation is: a new one is put into a set. */
export async function unsorted(): Promise<string[]> {
  const known = await byName();
  const sorted = new Set(Object.values(sets).flat());
  return [
    ...[...known.keys()].filter((each) => !sorted.has(each)),
    ...[...sorted].filter((each) => !known.has(each)),
  ];
}
