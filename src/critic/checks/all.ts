import { readMarkdown, type MarkdownText } from '../artifact/markdown.js';
import type { ModeInput } from '../mode.js';
import type { Checked } from './check.js';
import { code } from './code.js';
import { numbers } from './numbers.js';
import { references } from './references.js';
import { requirementIds } from './requirement-ids.js';
import { leftBehind } from './secrets.js';
import { sections } from './sections.js';
import { snippets } from './snippets.js';
import { placeholders, structure } from './structure.js';

const checks = [
  ...[leftBehind, structure, placeholders, numbers, references, requirementIds],
  ...[sections, snippets, code],
];

export interface Looked {
  read: MarkdownText;
  checked: Checked[];
  /** What no check could see. */
  unable: string[];
}

/** Runs every check on an artifact. Throws the reason of the signal. */
export async function lookAt(
  input: Pick<ModeInput, 'artifact' | 'context' | 'ground' | 'signal'>,
): Promise<Looked> {
  const { artifact, context, ground, signal } = input;
  const read = readMarkdown(artifact.path, artifact.text);
  const subject = { artifact, read, target: context.target_type, ground, signal };
  const checked: Checked[] = [];
  for (const check of checks) {
    signal.throwIfAborted();
    checked.push(...(await check(subject)));
  }
  const unable = checked.flatMap(({ unable: each }) => each ?? []);
  if (read.isCut) unable.push('to read the artifact to its end: it has more parts than are read');
  return { read, checked, unable };
}
