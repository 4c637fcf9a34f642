import path from 'node:path';
import type { PathName, SymbolName } from './claim.js';
import { slugOf } from '../artifact/markdown-anchors.js';
import { readDocument } from './document.js';
import { hasWord, lineOfWord } from './known-tree.js';
import { nearestPath, placeOf, stemOf } from './places.js';
import { nearest } from './spelling.js';
import { contradicted, unverified, verified, type Checking, type Verdict } from './verdict.js';

const placeholder =
  /(?:^|\/)(?:path|to|foo|bar|baz|qux|some|example|examples|xxx|name|file|dir|folder)(?:\.\w+)?(?:\/|$)|(?:^|[/._-])(?:my|your|some)[-_A-Z]/;
/** What a build or a run writes is not kept in a tree. */
const output =
  /^(?:\.{0,2}\/)?(?:dist|build|out|target|coverage|tmp|temp|node_modules|\.cache|\.git|logs?|var|etc|usr|home|proc|sys|dev|opt)(?:\/|$)/i;
const making =
  /\b(?:creates?|creating|writes?|writing|written to|generates?|generating|produces?|outputs?|emits?|saves?|saved (?:to|in|as)|downloads?|adds?|makes?)(?:\s\S{1,20}){0,2}\s?[`[(]{0,2}$/i;

export async function checkPath(checking: Checking, name: PathName): Promise<Verdict> {
  const { tree, document, claim } = checking;
  const place = placeOf(tree, name);
  if (place.is === 'file')
    return verified(`${place.file} is there.`, await tree.evidence(place.file, 1));
  if (place.is === 'folder')
    return verified(`${place.folder || 'The root'} is a folder there.`, []);
  if (place.is === 'several')
    return verified(
      `${place.files.length} files are called so.`,
      await tree.evidence(place.files[0] ?? '', 1),
      'medium',
    );
  if (place.is === 'pattern') return unverified('It is a pattern, not one place.');
  if (name.isStem) return checkStem(checking, name.path);
  const template = templateOf(tree, name.path);
  if (template !== undefined)
    return verified(`${template} stands for it.`, await tree.evidence(template, 1), 'medium');
  if (placeholder.test(name.path)) return unverified('It reads like a placeholder.');
  if (output.test(name.path)) return unverified('What is made there is not kept in the tree.');
  if (document.fenced.includes(name.path))
    return unverified('An example of the document names it.');
  if (isMade(claim.text, name.path) && !name.isLink)
    return unverified('Something is said to be made there.');
  return absentPath(checking, name);
}

/** Names that any project has. */
const generic =
  /^(?:package(?:-lock)?|tsconfig|app|server|index|main|client|worker|plugin|script|config|settings|data|Makefile|README)\.\w+$/i;

function isMade(sentence: string, name: string): boolean {
  const at = sentence.indexOf(name);
  const before = sentence.slice(Math.max(0, at - 100), at);
  return at > 0 && (making.test(before.slice(-60)) || copying.test(before));
}

const copying =
  /\b(?:copy|copies|copied|renam(?:e|es|ed)|mov(?:e|es|ed))(?:\s\S{1,40}){1,6}\s?[`[(]{0,2}$/i;

/** `name@HOST.service`: one of those that the unit `name@.service` stands for. */
function templateOf(tree: Checking['tree'], name: string): string | undefined {
  const base = path.posix.basename(name).replace(/@[^@.]{1,100}(?=\.\w+$)/, '@');
  if (!/@\.\w+$/.test(base)) return undefined;
  return [...tree.paths].find((each) => path.posix.basename(each) === base);
}

async function absentPath(
  { tree, claim, areBareNamesOwn }: Checking,
  name: PathName,
): Promise<Verdict> {
  const parts = name.path.replace(/^(?:\.{1,2}\/)+/, '').split('/');
  const like = nearestPath(tree, name.path);
  const isBare = parts.length === 1 && !name.isLink;
  // A file of another kind is not what is meant, and whoever uses the program has files of their own.
  const near =
    isBare && like !== undefined && kindOf(like) !== kindOf(name.path) ? undefined : like;
  if (isBare && near === undefined && kindOf(name.path) === 'data')
    return unverified(`There is no ${name.path} in the tree. It may be a file of its users.`);
  if (isBare && isAmongExamples(tree, name.path, claim.text))
    return unverified(`There is no ${name.path} in the tree, nor are the files named beside it.`);
  const evidence = near !== undefined && tree.paths.has(near) ? await tree.evidence(near, 1) : [];
  const reason = `There is no ${name.path} in the tree.`;
  if (near === undefined && isAmongForeign(tree, name, claim.text))
    return unverified(`There is no ${name.path} in the tree, nor is what is named beside it.`);
  const isOwn = areBareNamesOwn && parts.length === 1 && !generic.test(name.path);
  if (!isOwn && !isOfTree(tree, name, parts, near))
    return unverified(`${reason} It may belong to something else.`);
  return contradicted(
    reason,
    near === undefined ? 'Name a file that is there.' : `It is probably ${near}.`,
    evidence,
    near === undefined ? 'medium' : 'high',
  );
}

/** Beside a path whose first folder no folder of the tree is: they are of another tree. */
function isAmongForeign(tree: Checking['tree'], name: PathName, sentence: string): boolean {
  const others = [
    ...sentence.matchAll(/(?<![\w./-])([\w-]{1,80})(?:\/[\w.-]{1,80}){1,12}\.\w{1,8}/g),
  ];
  return others.some(
    ([other, root = '']) =>
      other !== name.path && !tree.paths.has(other) && !tree.folders.has(root),
  );
}

/** Beside other names of files that the tree does not have either: examples of what others have. */
function isAmongExamples(tree: Checking['tree'], name: string, sentence: string): boolean {
  const bare = [...sentence.matchAll(/`([\w-]{1,60}(?:\.[\w-]{1,20}){1,3})`/g)];
  const names = new Set(bare.map(([, each = '']) => each).filter((each) => each !== name));
  for (const each of tree.paths) names.delete(path.posix.basename(each));
  return [...names].filter((each) => fileEnding.test(each)).length >= foreignMin;
}

const foreignMin = 2;
const fileEnding = /\.(?:[cm]?[jt]sx?|py|rs|go|c|h|cpp|java|rb|sh|xml|gradle|toml|ya?ml|json)$/;

/** What a file is for, by its ending. */
function kindOf(file: string): string {
  const ending = path.posix.extname(file);
  if (/^\.(?:ya?ml|json\w?|toml|ini|conf|cfg|env|txt|log|csv|db|sock|key|pem|lock)$/.test(ending))
    return 'data';
  if (/^\.(?:md|rst|adoc|html?)$/.test(ending)) return 'text';
  return ending === '' ? 'folder' : 'code';
}

/** So many documents beside it say that the folder is here as a whole. */
const siblingsMin = 3;

function siblings(tree: Checking['tree'], link: string): number {
  const at = path.posix.join(path.posix.dirname(tree.artifact), link);
  const isBeside = (each: string): boolean =>
    path.posix.dirname(each) === path.posix.dirname(at) &&
    path.posix.extname(each) === path.posix.extname(at);
  return [...tree.paths].filter(isBeside).length;
}

/** Its folder is one of the tree, or a file of the tree is called so, or nearly so. */
function isOfTree(
  tree: Checking['tree'],
  name: PathName,
  parts: readonly string[],
  near: string | undefined,
): boolean {
  const folder = path.posix.dirname(name.path.replace(/\/+$/, ''));
  if (parts.length > 1) {
    const place = placeOf(tree, { ...name, path: folder, isLink: false });
    const root = placeOf(tree, { ...name, path: parts[0] ?? '', isLink: true });
    // A file of the same name elsewhere is what is meant; one that is merely like it, only within a folder of the tree.
    const isSame = near !== undefined && path.posix.basename(near) === parts.at(-1);
    return isSame || place.is === 'folder' || root.is === 'folder';
  }
  if (name.isLink && near === undefined) return siblings(tree, name.path) >= siblingsMin;
  // The name of a file alone may be one of another project.
  if (near === undefined || generic.test(name.path)) return false;
  return name.isLink || stemOf(near) === stemOf(name.path) || /[-_]|\w{7}/.test(stemOf(name.path));
}

/** `shard-plan`: a file without its ending, a folder, a package, or a word of a language. */
async function checkStem({ tree, document }: Checking, stem: string): Promise<Verdict> {
  const words = await tree.words();
  const isWritten = [...words.texts()].find(({ text }) => text.includes(stem));
  if (isWritten !== undefined) {
    const line = isWritten.text.slice(0, isWritten.text.indexOf(stem)).split('\n').length;
    return verified(
      'It is written in the code.',
      await tree.evidence(isWritten.file, line),
      'medium',
    );
  }
  const folder = path.posix.dirname(tree.artifact);
  const beside = [...tree.paths].filter((each) => path.posix.dirname(each) === folder);
  const near = nearest(stem, beside.map(stemOf));
  const mostAreStems = beside.filter((each) => stemOf(each).includes('-')).length >= 5;
  if (near === undefined || !mostAreStems || !words.isComplete || document.fenced.includes(stem))
    return unverified('No file is called so, and nothing of the code says it.');
  const file = beside.find((each) => stemOf(each) === near) ?? '';
  return contradicted(
    `No file is called ${stem}.`,
    `It is probably ${near}.`,
    await tree.evidence(file, 1),
    'medium',
  );
}

export async function checkAnchor({ tree, document }: Checking, name: PathName): Promise<Verdict> {
  const place = name.path === '' ? undefined : placeOf(tree, name);
  if (place !== undefined && place.is !== 'file')
    return unverified('There is no such file to look for it in.');
  const text = place === undefined ? undefined : await tree.text(place.file);
  const known = text === undefined ? document : readDocument(place?.file ?? '', text);
  const wanted = name.anchor.toLowerCase();
  const written = text ?? '';
  const anchors = known.anchors;
  if (anchors.has(wanted) || anchors.has(slugOf(wanted)))
    return verified('The heading is there.', []);
  if (
    isNamed(written, wanted) ||
    anchors.size === 0 ||
    (place === undefined && known.passages.some((each) => isNamed(each.text, wanted)))
  )
    return unverified('It is no heading; the page may have another anchor of this name.');
  const near = nearest(wanted, anchors);
  return contradicted(
    `${place?.file ?? 'The document'} has no heading for #${name.anchor}.`,
    near === undefined ? 'Link to a heading that is there.' : `It is probably #${near}.`,
    place === undefined ? [] : await tree.evidence(place.file, 1),
  );
}

function isNamed(text: string, anchor: string): boolean {
  const lower = text.toLowerCase();
  return ['id="', 'name="', 'id=', 'name=', "id='"].some((each) =>
    lower.includes(`${each}${anchor}`),
  );
}

export async function checkLine(
  { tree }: Checking,
  name: PathName,
  symbol: SymbolName | undefined,
): Promise<Verdict> {
  const place = placeOf(tree, name);
  if (place.is !== 'file') return unverified('There is no one such file to look into.');
  const text = (await tree.text(place.file)) ?? '';
  const lines = text.replace(/\n$/, '').split('\n');
  const { line_start: from, line_end: to } = name;
  const last = await tree.evidence(place.file, lines.length);
  if (from > lines.length || to > lines.length)
    return contradicted(`${place.file} has ${lines.length} lines.`, await whereIs(), last);
  if (symbol === undefined)
    return verified('The lines are there.', await tree.evidence(place.file, from, to), 'medium');
  const shown = lines.slice(from - 1, to).join('\n');
  const evidence = await tree.evidence(place.file, from, to, symbol.name);
  if (hasWord(shown, symbol.name)) return verified(`${symbol.name} stands there.`, evidence);
  const { definitions } = await tree.uses(symbol.name);
  const own = definitions.filter((each) => each.file_path === place.file);
  // A place within a function is a place of that function.
  if (own.some((each) => each.line <= from && to <= Math.max(each.line, each.line_end)))
    return verified(`The lines are in ${symbol.name}.`, evidence, 'medium');
  if (!hasWord(text, symbol.name) && definitions.length === 0)
    return unverified(
      `${symbol.name} is not in ${place.file}, and nothing is known of it.`,
      evidence,
    );
  return contradicted(`${symbol.name} is not at ${place.file}:${from}.`, await whereIs(), evidence);

  async function whereIs(): Promise<string> {
    if (symbol === undefined) return 'Name lines that are there.';
    const known = (await tree.uses(symbol.name)).definitions;
    const [best] = [...known].sort(
      (one, other) =>
        Number(other.file_path === (place.is === 'file' ? place.file : '')) -
        Number(one.file_path === (place.is === 'file' ? place.file : '')),
    );
    if (best !== undefined) return `It is defined at ${best.file_path}:${best.line}.`;
    return hasWord(text, symbol.name)
      ? `It stands at ${place.is === 'file' ? place.file : ''}:${lineOfWord(text, symbol.name)}.`
      : 'Name lines that are there.';
  }
}
