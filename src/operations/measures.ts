import { z } from 'zod';
import { depthMax, type Measures } from '../pgc/analyse/measures.js';
import { line, table } from '../render/terminal.js';
import { listing, looks, type Operation } from './operation.js';

const pathMax = 4_096;

const input = z.strictObject({
  path: z
    .string()
    .max(pathMax)
    .default('')
    .describe('A folder or a file; the whole tree, when absent.'),
  depth: z.int().min(1).max(depthMax).default(1).describe('Levels of folders below it.'),
});

/** `measures`: a tree by numbers of its overlays, folder by folder; of one file also its history. */
export const measures: Operation<typeof input> = {
  name: 'measures',
  title: 'The tree by numbers',
  description:
    'Each folder and file with its lines, its weaknesses, its commits and the day of its last change; of one file also who changed it and what changes together with it.',
  input,
  output: z.looseObject({ total: z.looseObject({}), rows: z.array(z.looseObject({})) }),
  annotations: looks,
  isTool: false,
  doing: 'counting',
  cli: {
    command: 'measures',
    help: 'show folders and files by size, weaknesses, commits and last change',
    arguments: [{ field: 'path', argument: '[path]', help: 'a folder or a file' }],
    flags: { depth: { flag: '--depth <n>', help: 'levels of folders below it' } },
  },
  async run(request, { bus, deadlineMs, signal }) {
    const found = await (await bus.analyses()).measures(request, { deadlineMs, signal });
    return listing<Measures>(found, ['rows', 'history', 'warnings'], text);
  },
};

function text({ total, rows, history, warnings }: Measures): string {
  const cells = [total, ...rows].map((each) => [
    each.path === '' ? '.' : each.path + (each.is_file ? '' : '/'),
    ...[each.files, each.lines, each.weaknesses, each.commits].map(String),
    each.changed,
  ]);
  return [
    table([['PATH', 'FILES', 'LINES', 'WEAKNESSES', 'COMMITS', 'CHANGED'], ...cells]),
    ...history.map((note) => line`${note.text}`),
    ...warnings.map((note) => line`note: ${note}`),
  ].join('\n');
}
