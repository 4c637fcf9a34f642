import path from 'node:path';
import { slugOf } from '../artifact/markdown-anchors.js';
import { readMarkdown } from '../artifact/markdown.js';
import {
  holds,
  notChecked,
  notFound,
  wrong,
  type PathName,
  type SymbolName,
  type Verdict,
} from './claim.js';
import type { Looking } from './looking.js';
import { besideArtifact, nearestPath, placeOf } from './places.js';
import type { Tree } from './tree.js';
import { hasWord, lineOfWord, nearest } from './words.js';

/** A build or a run writes here; a tree does not keep it. */
const output =
  /^(?:\.{0,2}\/)?(?:dist|build|out|target|coverage|tmp|temp|node_modules|\.cache|\.git|logs?|var|etc|usr|home|proc|sys|dev|opt)(?:\/|$)/i;
/** Does the file, or the folder, exist? */
export async function lookUpPath(looking: Looking, name: PathName): Promise<Verdict> {
  const { tree, read } = looking;
  const place = placeOf(tree, name);
  if (place.is === 'file')
    return holds(`${place.file} exists.`, await tree.evidence(place.file, 1));
  if (place.is === 'folder') return holds(`${place.folder || 'The root'} is a folder.`);
  if (place.is === 'several')
    return holds(
      `${place.files.length} paths end so.`,
      await tree.evidence(place.files[0] ?? '', 1),
      'medium',
    );
  if (place.is === 'pattern') return notChecked('It is a pattern.');
  if (output.test(name.path))
    return notChecked('The tree does not keep what a build or a run writes.');
  const reason = `There is no ${name.path} in the tree.`;
  if (isBrokenLink(tree, name))
    return wrong(`The link leads nowhere: ${reason}`, 'Link to a file that exists.');
  const near = nearestPath(tree, name.path);
  const isInFence = read.fences.some(({ text }) => text.includes(name.path));
  if (near === undefined || name.isLink || isInFence || !isOfTree(tree, name))
    return notFound(near === undefined ? reason : `${reason} It may be ${near}.`);
  const evidence = tree.paths.has(near) ? await tree.evidence(near, 1) : [];
  return wrong(reason, `It is probably ${near}.`, evidence);
}

/** The tree has its folder; of a bare file name it is not known which folder is meant. */
function isOfTree(tree: Tree, name: PathName): boolean {
  const [root = '', ...rest] = name.path.replace(/^(?:\.{1,2}\/)+/, '').split('/');
  return rest.length > 0 && (tree.folders.has(folderOf(name.path)) || tree.folders.has(root));
}

/** So many files of the kind beside it: the tree has the folder as a whole. */
const siblingsMin = 3;

function isBrokenLink(tree: Tree, name: PathName): boolean {
  if (!name.isLink) return false;
  const link = besideArtifact(tree, name.path);
  const [folder, ending] = [folderOf(link), path.posix.extname(link)];
  const isBeside = (each: string): boolean => folderOf(each) === folder && each.endsWith(ending);
  return [...tree.paths].filter(isBeside).length >= siblingsMin;
}

function folderOf(file: string): string {
  const folder = path.posix.dirname(file);
  return folder === '.' ? '' : folder;
}

/** Does the line exist, and does it hold the symbol that is quoted beside it? */
export async function lookUpLine(
  { tree }: Looking,
  name: PathName,
  symbol: SymbolName | undefined,
): Promise<Verdict> {
  const place = placeOf(tree, name);
  if (place.is !== 'file') return notChecked('No one file is meant.');
  const { file } = place;
  const text = (await tree.text(file)) ?? '';
  const lines = text.replace(/\n$/, '').split('\n');
  const { line_start: from, line_end: to } = name;
  if (from > lines.length || to > lines.length)
    return wrong(
      `${file} has ${lines.length} lines.`,
      'Name lines that exist.',
      await tree.evidence(file, lines.length),
    );
  const evidence = await tree.evidence(file, from, to, symbol?.name);
  if (symbol === undefined) return holds('The lines exist.', evidence, 'medium');
  if (hasWord(lines.slice(from - 1, to).join('\n'), symbol.name))
    return holds(`The lines name ${symbol.name}.`, evidence);
  const { definitions } = await tree.uses(symbol.name);
  const own = definitions.filter((each) => each.file_path === file);
  if (own.some((each) => each.line <= from && to <= Math.max(each.line, each.line_end)))
    return holds(`The lines are part of ${symbol.name}.`, evidence, 'medium');
  const [definition] = own.length > 0 ? own : definitions;
  if (definition === undefined && !hasWord(text, symbol.name))
    return notFound(`${file} does not name ${symbol.name}.`, evidence);
  return wrong(
    `${symbol.name} is not at ${file}:${from}.`,
    definition === undefined
      ? `It occurs at ${file}:${lineOfWord(text, symbol.name)}.`
      : `It is defined at ${definition.file_path}:${definition.line}.`,
    evidence,
  );
}

/** Does the document have a heading with this anchor? */
export async function lookUpAnchor({ tree, read }: Looking, name: PathName): Promise<Verdict> {
  const place = name.path === '' ? undefined : placeOf(tree, name);
  if (place !== undefined && place.is !== 'file') return notChecked('No one file is meant.');
  const text = place === undefined ? undefined : await tree.text(place.file);
  const { anchors } =
    place === undefined || text === undefined ? read : readMarkdown(place.file, text);
  const wanted = name.anchor.toLowerCase();
  const known = new Set([...anchors].map((each) => each.toLowerCase()));
  if (known.has(wanted) || known.has(slugOf(wanted))) return holds('The heading exists.');
  if (known.size === 0)
    return notFound('The document has no headings; pages may make anchors of their own.');
  const near = nearest(wanted, known);
  return wrong(
    `${place?.file ?? 'The document'} has no heading for #${name.anchor}.`,
    near === undefined ? 'Link to a heading that exists.' : `It is probably #${near}.`,
    place === undefined ? [] : await tree.evidence(place.file, 1),
  );
}
