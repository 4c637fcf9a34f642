import { realpath } from 'node:fs/promises';
import { z } from 'zod';
import type { EvidenceCitation } from '../../delegation/task/shapes.js';
import { ConfinedReader } from '../../pgc/source/confined-reader.js';
import { Tasks } from '../../remote/tasks.js';
import { citationLine, renderTask, waysOn } from '../../render/task.js';
import { printable } from '../../render/terminal.js';
import type { TaskView } from '../../task/requests/messages.js';
import { forPeople, looks, plain } from '../operation.js';

const fileBytesMax = 8 * 1024 * 1024;
/** Lines shown before and behind what is cited, and of what is cited. */
const linesAround = 2;
const linesShownMax = 30;

/** `task review`: what a person should look at before they decide. On a terminal they are asked then. */
export const taskReview = forPeople({
  input: z.strictObject({ id: z.string(), repo: z.string().default('.') }),
  command: 'task review',
  annotations: looks,
  help: 'show the evidence of a result, then accept or refuse it',
  arguments: ['id'],
  flags: { repo: { flag: '--repo <dir>', help: 'root of the cited tree' } },
  asks: 'bus',
  async run({ id, repo }, { bus }) {
    const view = await new Tasks(await bus.client()).show(id);
    const text = await forReview(view, repo);
    return { ...plain(view, text), screen: () => [text, ...waysOn(view)].join('\n') };
  },
});

/**
 * What is doubtful about a task, and each citation as the tree holds it now, with the lines around it. `root`: of the tree;
 * files outside it are never read, even if a citation names them.
 */
async function forReview(view: TaskView, root: string): Promise<string> {
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
