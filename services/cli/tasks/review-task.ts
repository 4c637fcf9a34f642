import { realpath } from 'node:fs/promises';
import { createInterface } from 'node:readline/promises';
import type { EvidenceCitation } from '../../../src/delegation/task/shapes.js';
import { ConfinedReader } from '../../../src/pgc/source/confined-reader.js';
import type { TaskView } from '../../../src/task/requests/messages.js';
import { printable } from '../../../src/render/terminal.js';
import { citationLine, renderTask } from '../../../src/render/task.js';

const fileBytesMax = 8 * 1024 * 1024;
/** Lines shown before and behind what is cited, and of what is cited. */
const linesAround = 2;
const linesShownMax = 30;

/**
 * What is doubtful about a task, and each citation as the tree holds it now, with the lines around it. `root`: of the tree;
 * files outside it are never read, even if a citation names them.
 */
export async function renderForReview(view: TaskView, root: string): Promise<string> {
  const review = view.reviews.at(-1);
  const level = review?.confidence ?? view.response?.grounding_evidence?.grounding_confidence;
  const figure = review === undefined ? '' : ` (${review.similarity.toFixed(2)})`;
  const head =
    level === undefined
      ? 'Task completed without any evidence'
      : `Task completed with ${level.toUpperCase()} grounding confidence${figure}`;
  const citations = view.response?.grounding_evidence?.citations ?? [];
  const reader = new ConfinedReader(await realpath(root), fileBytesMax);
  const shown = await Promise.all(
    citations.map(async (citation, at) => [
      citationLine(citation, at + 1, review?.citations[at]),
      ...(citation.relevance === '' ? [] : [`      ${printable(citation.relevance)}`]),
      ...(await linesOf(reader, citation)),
    ]),
  );
  const { response, asks, ...rest } = view;
  const plain = response && { ...response, grounding_evidence: null };
  return [
    head,
    '',
    // The citations follow below, with their lines; what it asks is the question.
    renderTask({ ...rest, asks: '', may: [], response: plain }),
    '',
    ...shown.flat(),
    ...(asks === '' ? [] : ['', `It asks: ${printable(asks)}`]),
  ].join('\n');
}

async function linesOf(reader: ConfinedReader, citation: EvidenceCitation): Promise<string[]> {
  const { file_path, line_start, line_end } = citation;
  const read = await reader.read(file_path);
  if ('refused' in read) return [`      (cannot be shown: ${read.refused})`];
  const lines = read.bytes.toString('utf8').split('\n');
  const to = Math.max(line_start, Math.min(line_end, line_start + linesShownMax - 1));
  const first = Math.max(1, line_start - linesAround);
  return lines.slice(first - 1, to + linesAround).map((line, at) => {
    const number = first + at;
    const mark = number >= line_start && number <= to ? '>' : ' ';
    return `    ${mark} ${String(number).padStart(5)}  ${printable(line.replaceAll('\t', '    '))}`;
  });
}

/** True unless the answer is no; undefined at the end of the input. */
export async function isAccepted(
  question: string,
  streams: { input: NodeJS.ReadableStream; output: NodeJS.WritableStream },
): Promise<boolean | undefined> {
  const lines = createInterface(streams);
  try {
    for (;;) {
      const ended = new Promise<undefined>((resolve) =>
        lines.once('close', () => resolve(undefined)),
      );
      const answer = await Promise.race([lines.question(`${question} [Y/n] `), ended]);
      if (answer === undefined) return undefined;
      if (/^\s*(y|yes)?\s*$/i.test(answer)) return true;
      if (/^\s*(n|no)\s*$/i.test(answer)) return false;
    }
  } finally {
    lines.close();
  }
}
