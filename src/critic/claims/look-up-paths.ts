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

const placeholder =
  /(?:^|\/)(?:path|to|foo|bar|baz|qux|some|example|examples|xxx|name|file|dir|folder)(?:\.\w+)?(?:\/|$)|(?:^|[/._-])(?:my|your|some)[-_A-Z]/;
/** A build or a run writes here; a tree does not keep it. */
const output =
  /^(?:\.{0,2}\/)?(?:dist|build|out|target|coverage|tmp|temp|node_modules|\.cache|\.git|logs?|var|etc|usr|home|proc|sys|dev|opt)(?:\/|$)/i;
/** The sentence may speak of a file that is to be made, or may be. */
const made =
  /\b(?:creat\w+|writ(?:es?|ing|ten)|generat\w+|produc\w+|outputs?|saves?d?|downloads?|adds?|mak(?:es?|ing)|cop(?:y|ies|ied)|exists?|will be)\b/i;
/** Any project may have one. */
const generic =
  /^(?:package(?:-lock)?|tsconfig|app|server|index|main|client|worker|plugin|script|config|settings|data|Makefile|README)\.\w+$/i;
const dataFile = /\.(?:ya?ml|json\w?|toml|ini|conf|cfg|env|txt|log|csv|db|sock|key|pem|lock)$/;

/** Does the file, or the folder, exist? */
export async function lookUpPath(looking: Looking, name: PathName): Promise<Verdict> {
  const { tree, claim, read } = looking;
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
  if (placeholder.test(name.path)) return notChecked('It reads like a placeholder.');
  if (output.test(name.path))
    return notChecked('The tree does not keep what a build or a run writes.');
  const reason = `There is no ${name.path} in the tree.`;
  if (
    !name.isLink &&
    (made.test(claim.text) || read.fences.some(({ text }) => text.includes(name.path)))
  )
    return notFound(reason);
  if (!isOfTree(looking, name)) return notFound(`${reason} It may belong to something else.`);
  const near = nearestPath(tree, name.path);
  return wrong(
    reason,
    near === undefined ? 'Name a path that exists.' : `It is probably ${near}.`,
    near !== undefined && tree.paths.has(near) ? await tree.evidence(near, 1) : [],
  );
}

/** The tree has its folder. A bare file name counts where those of the document are files of the tree. */
function isOfTree({ tree, claim, owns }: Looking, name: PathName): boolean {
  const parts = name.path
    .replace(/^(?:\.{1,2}\/)+/, '')
    .split('/')
    .filter((each) => each !== '');
  const [root = ''] = parts;
  if (parts.length === 1 && name.isLink) return siblings(tree, name.path) >= siblingsMin;
  if (parts.length === 1) return owns.files && !generic.test(root) && !dataFile.test(root);
  if (isAmongForeign(claim.text, tree.folders)) return false;
  const folder = name.isLink
    ? path.posix.dirname(besideArtifact(tree, name.path))
    : parts.slice(0, -1).join('/');
  const place = placeOf(tree, { ...name, path: folder, isLink: false });
  return tree.folders.has(folder) || place.is === 'folder' || tree.folders.has(root);
}

/** So many files of the kind beside it: the tree has the folder as a whole. */
const siblingsMin = 3;

function siblings({ paths, artifact }: Tree, link: string): number {
  const folder = path.posix.dirname(artifact);
  const ending = path.posix.extname(link);
  return [...paths].filter((each) => path.posix.dirname(each) === folder && each.endsWith(ending))
    .length;
}

/** A path beside it begins with a folder that the tree lacks: all of them may be of another tree. */
function isAmongForeign(sentence: string, folders: ReadonlySet<string>): boolean {
  const all = [...folders];
  return [...sentence.matchAll(/(?<![\w./-])([\w-]{1,80})(?:\/[\w.-]{1,80}){1,12}\.\w{1,8}/g)].some(
    ([, root = '']) => !all.some((each) => path.posix.basename(each) === root),
  );
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
