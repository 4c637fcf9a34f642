import type { ItemFact } from '../../pgc/format/facts.js';
import { CodeReader } from '../../pgc/mine/code-reader.js';
import type { ModeInput } from '../mode.js';
import { fileOf, type Component, type Impact } from './impact.js';

/** What an artifact promises, or asks of its callers: an item of O6 in its own text. */
export interface Statement {
  rule: string;
  text: string;
  line_start: number;
  line_end: number;
  kind: 'promise' | 'demand';
  /** Functions that it is about. */
  about: Component[];
}

const kinds: Readonly<Record<string, Statement['kind']>> = {
  ...{ guarantee: 'promise', invariant: 'promise', postcondition: 'promise' },
  ...{ precondition: 'demand', 'caller-duty': 'demand', 'locking-rule': 'demand' },
};
const statementsMax = 200;

/** Statements of the artifact as the index would find them. */
export async function statementsIn(
  { artifact }: Pick<ModeInput, 'artifact'>,
  impact: Impact,
): Promise<Statement[]> {
  await using reader = new CodeReader();
  const items = await reader.itemsOf(artifact.path, artifact.text);
  return items
    .flatMap((item): Statement[] => {
      const { overlay, rule, text, line_start, line_end } = item;
      const kind = overlay === 6 ? kinds[rule] : undefined;
      if (kind === undefined) return [];
      const about = impact.isCode ? documented(item, impact, artifact.path) : meantIn(text, impact);
      return [{ rule, text, line_start, line_end, kind, about }];
    })
    .slice(0, statementsMax);
}

/** The function that a comment stands in, or right above. */
function documented({ line_start, line_end }: ItemFact, impact: Impact, path: string): Component[] {
  const own = impact.components.filter((each) => each.path === path);
  const around = own.findLast((each) => each.line <= line_start && line_end <= each.line_end);
  if (around !== undefined) return [around];
  const next = own.find(({ line }) => line > line_end);
  const names = fileOf(impact, path)?.code?.parts.names ?? new Map<string, number[]>();
  // Code between them: the comment is about something else.
  const isApart = [...names.values()].some((lines) =>
    lines.some((line) => line > line_end && line < (next?.line ?? 0)),
  );
  return next === undefined || isApart ? [] : [next];
}

/** Components that the code spans of a sentence name. */
export function meantIn(text: string, { named, components }: Impact): Component[] {
  const spans = Array.from(text.matchAll(/`{1,2}([^`\n]{1,200})`{1,2}/g), ([, name = '']) =>
    name.trim(),
  );
  const calls = Array.from(
    text.matchAll(/(?<![`\w.])([A-Za-z_]\w{2,80})\(\)/g),
    ([, name = '']) => name,
  );
  const ids = new Set([...spans, ...calls].flatMap((name) => named.get(name) ?? []));
  return components.filter(({ id }) => ids.has(id));
}
