import type { Conflict } from './proposal-check.js';
import { digestOf } from './insight-digest.js';
import { fenced } from '../../model/fenced.js';
import { filled, textOf } from '../../model/texts.js';
import type { Gathered } from '../grounding/gathered.js';
import { evidenceLimits, type DelegatedTask, type EvidenceCitation } from '../task/shapes.js';

/** The prompt for a runner, and the sources that it may cite. */
export interface Prompt {
  text: string;
  /** Numbered from 1 in the prompt. */
  sources: EvidenceCitation[];
  contextBytes: number;
}

/**
 * A task in words. Text from the PGC is fenced as data, so that text of a code base gives no instructions. `mark`: the random mark of the fence, of this prompt alone.
 */
export function promptOf(
  task: DelegatedTask,
  {
    gathered,
    conflicts,
    earlier,
    mark,
  }: {
    gathered: Gathered | null;
    conflicts: readonly Conflict[];
    earlier: string;
    mark: string;
  },
): Prompt {
  const sources = (gathered?.citations ?? []).slice(0, evidenceLimits.citations);
  const insights = gathered === null ? '' : digestOf(gathered.insights);
  const numbered = sources.map(
    ({ overlay, file_path, line_start, line_end, content }, at) =>
      `[${at + 1}] ${overlay} ${file_path}:${line_start}-${line_end}\n${content}`,
  );
  const data = [insights, ...numbered].filter(Boolean).join('\n\n');
  const parts = [
    `Task:\n${task.task}`,
    listed(
      'It is done when:',
      task.acceptance_criteria.map(({ text }) => text),
    ),
    task.context === '' ? '' : `Context:\n${task.context}`,
    listed(
      'Answered before:',
      task.clarifications.map(({ question, answer }) => `${question} ${answer}`),
    ),
    listed('To be corrected, from an earlier attempt:', task.feedback),
    earlier === '' ? '' : `What you proposed before:\n${earlier}`,
    listed(
      'The code base contradicts what you proposed; correct it:',
      conflicts.map(({ name, why }) => `${name}: ${why}`),
    ),
    data === '' ? '' : fenced(mark, data),
  ];
  const text = parts.filter((each) => each !== '').join('\n\n');
  return { text, sources, contextBytes: Buffer.byteLength(data) };
}

/** The rules for every runner with a language model. */
export function rulesFor(sources: number): string {
  const cite =
    sources === 0
      ? textOf('name-places').text
      : filled('cite-sources', { sources: String(sources) });
  return filled('task-rules', { cite });
}

/** The question of a runner that needs clarification; empty: it does not. */
export function questionIn(text: string): string {
  const trimmed = text.trim().replace(/^```(?:json)?\s*|\s*```$/g, '');
  if (!trimmed.startsWith('{')) return '';
  try {
    const value = JSON.parse(trimmed) as { needs_clarification?: unknown };
    return typeof value.needs_clarification === 'string' ? value.needs_clarification : '';
  } catch {
    return '';
  }
}

function listed(title: string, items: readonly string[]): string {
  return items.length === 0 ? '' : [title, ...items.map((each) => `- ${each}`)].join('\n');
}
