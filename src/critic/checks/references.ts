import path from 'node:path';
import { decoded } from '../artifact/markdown-anchors.js';
import { foldersOf } from '../artifact/tree-ground.js';
import { readMarkdown, type Link, type MarkdownText } from '../artifact/markdown.js';
import type { Found } from '../finding.js';
import { at, quoted, withoutCode, type Check, type Checked, type Subject } from './check.js';

/** Other documents that are read for the anchors that a link names. */
const documentsMax = 40;
const hasScheme = /^[a-z][a-z0-9+.-]*:|^\/\//i;

/** Links within the document and to files of the tree, and labels without a definition. The web is not visited. */
export const references: Check = async (subject) => {
  if (subject.read.isCode) return [];
  return [anchors(subject.read), labels(subject.read), await files(subject)];
};

export const linksWithin = 'links within the document that lead somewhere';

function anchors({ links, anchors: known }: MarkdownText): Checked {
  const within = links.filter(({ target }) => target.length > 1 && target.startsWith('#'));
  const faults = within.flatMap((link) => {
    const name = decoded(link.target.slice(1));
    // Browsers provide `#top`.
    if (known.has(name) || known.has(name.toLowerCase()) || name === 'top') return [];
    return [broken(link, 'ANCHOR_BROKEN', 'no heading of this document gives that anchor')];
  });
  return { aspect: 'consistency', what: linksWithin, looked: within.length, faults };
}

/** `[text][label]` and `[^note]`. */
const labelled = /\[[^\][]{1,300}\]\[([^\][]{1,200})\]|\[(\^[^\][\s]{1,200})\](?!:)/g;

function labels(read: MarkdownText): Checked {
  const uses = read.sentences.flatMap((sentence) =>
    [...withoutCode(sentence.text).matchAll(labelled)].map(([, label, note]) => ({
      label: (label ?? note ?? '').toLowerCase(),
      sentence,
    })),
  );
  // Without one that is defined, brackets mean something else here.
  const isUsed = (isNote: boolean): boolean =>
    [...read.labels].some((label) => label.startsWith('^') === isNote);
  const looked = uses.filter(({ label }) => isUsed(label.startsWith('^')));
  const faults = looked.flatMap(({ label, sentence }): Found[] => {
    if (read.labels.has(label)) return [];
    return [
      {
        ...{ rule: 'REFERENCE_UNDEFINED', severity: 'minor', words: `${label} ${sentence.text}` },
        text: `No definition of the reference [${label}]: ${quoted(sentence.text)}`,
        remedy: `Define [${label}], or remove it.`,
        place: { line_start: sentence.line_start, line_end: sentence.line_end },
      },
    ];
  });
  return {
    aspect: 'consistency',
    what: 'references with a definition',
    looked: looked.length,
    faults,
  };
}

async function files(subject: Subject): Promise<Checked> {
  const { artifact, read, ground, signal } = subject;
  const what = 'links to files that are there';
  const nothing: Checked = { aspect: 'traceability', what, looked: 0, faults: [] };
  const named = read.links.filter(
    ({ target }) => target !== '' && !target.startsWith('#') && !hasScheme.test(target),
  );
  if (named.length === 0) return nothing;
  if (ground === undefined)
    return { ...nothing, unable: 'to see whether links to files lead somewhere: no tree is known' };
  const paths = await ground.paths();
  const known = new Set(paths);
  const folders = foldersOf(paths);
  // A new document of a folder of the tree.
  const folder = path.posix.dirname(artifact.path);
  if (!known.has(artifact.path) && (folder === '.' || !folders.has(folder)))
    return {
      ...nothing,
      unable: `to follow links to files: ${artifact.path} is no file of the tree`,
    };
  const faults: Found[] = [];
  const anchorsIn = new Map<string, ReadonlySet<string> | undefined>();
  let looked = 0;
  for (const link of named) {
    signal.throwIfAborted();
    const [to = '', fragment = ''] = decoded(link.target).split('#');
    const file = resolved(artifact.path, to.split('?')[0] ?? '');
    // Beyond the root is the host of the repository.
    if (file === undefined) continue;
    looked += 1;
    if (!known.has(file) && !folders.has(file)) {
      faults.push(broken(link, 'LINK_BROKEN', `the tree has no ${file}`));
      continue;
    }
    if (fragment === '' || !/\.(?:md|markdown)$/i.test(file) || /^L\d+/.test(fragment)) continue;
    if (!anchorsIn.has(file)) {
      if (anchorsIn.size >= documentsMax) continue;
      const text = await ground.read(file);
      anchorsIn.set(file, text === undefined ? undefined : readMarkdown(file, text).anchors);
    }
    const theirs = anchorsIn.get(file);
    if (theirs !== undefined && !theirs.has(fragment) && !theirs.has(fragment.toLowerCase()))
      faults.push(broken(link, 'ANCHOR_BROKEN', `no heading of ${file} gives that anchor`));
  }
  return { ...nothing, looked, faults };
}

function broken(link: Link, rule: string, why: string): Found {
  return {
    ...{ rule, severity: 'minor', words: `${link.text} ${link.target}`, place: at(link.line) },
    text: `The ${link.kind} ${quoted(link.text)} to ${link.target} leads nowhere: ${why}.`,
    remedy: 'Correct the link, or remove it.',
  };
}

/** From the root of the tree; undefined: outside of it. `/x` is meant from the root, as hosts of repositories read it. */
function resolved(from: string, to: string): string | undefined {
  const joined = to.startsWith('/') ? to.slice(1) : path.posix.join(path.posix.dirname(from), to);
  const plain = path.posix.normalize(joined).replace(/\/$/, '');
  return plain === '..' || plain.startsWith('../') ? undefined : plain;
}
