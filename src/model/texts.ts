import { readFileSync } from 'node:fs';
import { assert } from '../base/assert.js';

/**
 * Instructions for models, one file each: `texts/<name>.v<N>.md`. A changed text is a new
 * version, and answers say which they were made with.
 */
const versions = {
  agent: 1,
  'agent-ending': 1,
  'agent-last': 1,
  'answer-question': 1,
  'cite-sources': 1,
  'critic-chain-of-verification': 1,
  'critic-constitutional': 1,
  'critic-devils-advocate': 1,
  'critic-fmea': 1,
  'critic-frame': 1,
  'critic-inversion': 1,
  'critic-llm-as-judge': 1,
  'critic-pre-mortem': 1,
  'critic-red-team': 1,
  'critic-self-refine': 1,
  'critic-standard': 1,
  'critic-steelman': 1,
  'data-fence': 1,
  fence: 1,
  'gate-instructions': 1,
  'name-places': 1,
  probe: 1,
  'read-question': 1,
  'task-rules': 1,
} as const;

export type TextName = keyof typeof versions;

export interface Text {
  /** `name.vN` */
  id: string;
  /** Without the break at its end; may have holes, `{{name}}`. */
  text: string;
}

export const textNames = Object.keys(versions) as TextName[];

const hole = /\{\{(\w+)\}\}/g;
const known = new Map<TextName, Text>();

/** Is read once. */
export function textOf(name: TextName): Text {
  const before = known.get(name);
  if (before !== undefined) return before;
  const id = `${name}.v${versions[name]}`;
  const text = readFileSync(new URL(`texts/${id}.md`, import.meta.url), 'utf8').trimEnd();
  known.set(name, { id, text });
  return { id, text };
}

/** Fills every placeholder once; a placeholder inside a value is text. A missing or unknown one is a bug. */
export function filled(name: TextName, holes: Readonly<Record<string, string>>): string {
  const { id, text } = textOf(name);
  const wanted = new Set(Array.from(text.matchAll(hole), ([, each = '']) => each));
  for (const each of Object.keys(holes)) assert(wanted.has(each), `${id} has no hole ${each}`);
  return text.replace(hole, (_, each: string) => {
    const filling = holes[each];
    assert(filling !== undefined, `nothing for the hole ${each} of ${id}`);
    return filling;
  });
}
