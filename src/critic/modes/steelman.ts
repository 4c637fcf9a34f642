import { lookAt } from '../checks/all.js';
import { partAt, type MarkdownText, type Sentence } from '../artifact/markdown.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import { examinedOf, findingsOf, listed, sectionsOf } from './looked.js';

/** Titles of sections, as records of decisions and designs have them. */
const thesisTitle =
  /^(?:[\d.]+\s*)?(?:the )?(?:decisions?|decision outcome|summary|abstract|overview|tl;?dr|proposal|goals?|conclusions?|thesis|purpose|recommendation)\b/i;
const assumptionTitle = /\b(?:assumptions?|prerequisites?|preconditions?|constraints|premises?)\b/i;
const reasonTitle = /\b(?:rationale|reasons?|reasoning|motivation|why|justification|drivers?)\b/i;
const shownMax = 12;

/** The strongest case for an artifact, in its own words, before any mode argues against it. */
export const steelman: Mode = {
  name: 'steelman',
  sections: [
    'Core Thesis',
    'Explicit Assumptions',
    'Strongest Reasoning Chain',
    'Supporting Evidence',
    'Unstated Supporting Arguments',
  ],
  optionalSections: ['Unstated Supporting Arguments'],
  text: 'critic-steelman',

  async examine(input): Promise<Examined> {
    const { read, checked, unable } = await lookAt(input);
    const claims = thesisOf(read);
    const assumed = below(read, assumptionTitle);
    const reasons = below(read, reasonTitle);
    const links = checked.filter(({ what }) => /^links/.test(what));
    const evidence = await evidenceOf(read, input);
    const faults = links.flatMap((each) => each.faults);
    return examinedOf({
      findings: await findingsOf('steelman', faults, input, read.isCode),
      unable: [
        ...unable,
        'to find assumptions and reasons outside of sections that are titled so: a reader or a model has to',
        'to make an argument stronger than its words: a reader or a model has to',
      ],
      sections: sectionsOf({
        'Core Thesis': quotes(claims, 'It has no sentence.'),
        'Explicit Assumptions': quotes(assumed, 'No section is titled so.'),
        'Strongest Reasoning Chain': quotes(
          reasons,
          'No section gives its reasons under such a title.',
        ),
        'Supporting Evidence': listed(evidence, 'It names no file and no source.'),
      }),
    });
  },
};

function quotes(sentences: readonly Sentence[], none: string): string {
  const shown = sentences.slice(0, shownMax);
  const rest = sentences.length - shown.length;
  const lines = shown.map(({ text, line_start }) => `line ${line_start}: ${text}`);
  return listed([...lines, ...(rest > 0 ? [`${rest} more like these`] : [])], none);
}

/** The first sentence of each section that is titled as a thesis, else the first of the text. */
function thesisOf(read: MarkdownText): Sentence[] {
  const plain = read.sentences.filter(({ isQuote }) => !isQuote);
  const first = new Map<number, Sentence>();
  for (const sentence of plain) {
    const part = partAt(read.parts, sentence.line_start);
    const title = read.parts[part]?.heading?.title ?? '';
    if (!read.isCode && thesisTitle.test(title) && !first.has(part)) first.set(part, sentence);
  }
  return first.size > 0 ? [...first.values()] : plain.slice(0, 1);
}

/** Sentences below headings with such a title. */
function below(read: MarkdownText, titles: RegExp): Sentence[] {
  return read.sentences.filter(({ line_start }) => {
    const { path = [] } = read.parts[partAt(read.parts, line_start)] ?? {};
    return path.some((title) => titles.test(title));
  });
}

/** Files and addresses that it names. */
async function evidenceOf(read: MarkdownText, { ground, artifact }: ModeInput): Promise<string[]> {
  const paths = ground === undefined ? undefined : new Set(await ground.paths());
  const files = new Map<string, number>();
  for (const { text, line } of read.codes) {
    const [path = ''] = /^[\w.@+-]+(?:\/[\w.@+-]+)+(?=$|:\d|#L\d)/.exec(text) ?? [];
    // A name with a slash that is not in the tree may be anything.
    if (path !== '' && path !== artifact.path && paths?.has(path) === true && !files.has(path))
      files.set(path, line);
  }
  const links = read.links
    .filter(({ kind, target }) => kind === 'link' && /^https?:/.test(target))
    .map(({ target, line }) => `line ${line}: ${target} (not visited)`);
  const named = [...files].map(([path, line]) => `line ${line}: \`${path}\` (in the tree)`);
  return [...named, ...links];
}
