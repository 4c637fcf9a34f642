import type { ItemFact } from '../../format/facts.js';
import { docOf } from '../comment.js';
import { Items, type ItemSource } from './item.js';
import { isHowTo, isTelling, overviewOf } from './prose.js';

/** A module overview stands this near to the top. */
const overviewCharsMax = 4_000;
/** Characters of a section of kernel-doc that are read: only its first sentences are shown. */
const docCharsMax = 4_000;
/** Its end is looked for so far behind its title. */
const sectionCharsMax = 40_000;

/** Headings of documents that say why, not how. */
const purposes: readonly (readonly [rule: string, pattern: RegExp])[] = [
  [
    'decision',
    /^(?:ADR\b|decisions?\b|rationale|why\b|design\b|trade-?offs?|alternatives)|\bdecision records?\b/i,
  ],
  ['goal', /\b(?:goals?|mission|vision|purpose|motivation|objectives?|principles?|scope)\b/i],
  [
    'overview',
    /\b(?:overview|introduction|background|about|what is|concepts?|summary|abstract|architecture)\b/i,
  ],
];

/** O4 of one text: sections of documents, who looks after what, and what modules say they are for. */
export function missionItems(source: ItemSource): ItemFact[] {
  const items = new Items(source, 4);
  switch (source.language) {
    case 'markdown':
    case 'rst':
    case 'text':
      sections(source, items);
      break;
    case 'maintainers':
      for (const { name, start, end, doc } of source.draft.symbols)
        items.add('maintainer', start, end, doc, { subject: name });
      break;
    case 'kconfig':
    case 'make':
    case 'settings':
    case 'shell':
      break;
    default:
      overview(source, items);
  }
  return items.found;
}

function sections({ draft }: ItemSource, items: Items): void {
  for (const { name, container, doc, start, end } of draft.symbols) {
    const rule = purposes.find(([, pattern]) => pattern.test(name))?.[0] ?? 'section';
    if (!isTelling(doc) || (rule === 'section' && isHowTo(name))) continue;
    const title = container === '' ? name : `${container} › ${name}`;
    items.add(rule, start, end, `${title}: ${doc}`, { subject: name });
  }
}

/** The comment that a file begins with, and `DOC:` sections of kernel-doc. */
function overview({ text, language, draft }: ItemSource, items: Items): void {
  const blocks =
    language === 'python'
      ? /^(?:\s*#[^\n]*\n)*\s*[rRuU]?("""|''')[\s\S]*?\1/.exec(text.slice(0, overviewCharsMax))
      : /^(?:\s*(?:\/\/[^\n]*\n|#![^\n]*\n))*\s*\/\*[\s\S]*?\*\/|^(?:\s*\/\/[^\n]*\n)+/.exec(
          text.slice(0, overviewCharsMax),
        );
  if (blocks !== null) {
    const [whole] = blocks;
    const first = draft.symbols[0];
    const prose = overviewOf(whole);
    // A comment that touches the first definition speaks of that.
    const isOfSymbol = first !== undefined && first.wordsStart < whole.length;
    if (!isOfSymbol && prose !== '') {
      const lead = whole.length - whole.trimStart().length;
      items.add('overview', lead, whole.length, prose);
    }
  }
  if (language !== 'python' && text.includes('DOC:')) docSections(text, items);
}

function docSections(text: string, items: Items): void {
  const head = /\/\*\*[ \t]*\r?\n[ \t]*\*[ \t]*DOC:([^\n]*)\n/g;
  for (let found = head.exec(text); found !== null; found = head.exec(text)) {
    const rest = text.slice(head.lastIndex, head.lastIndex + sectionCharsMax);
    const close = rest.indexOf('*/');
    const body = close < 0 ? rest : rest.slice(0, close);
    // What belongs to one section is not looked through for another.
    head.lastIndex += body.length;
    const doc = docOf(`/*${body.slice(0, docCharsMax)}*/`, 'jsdoc');
    if (!isTelling(doc)) continue;
    const title = (found[1] ?? '').trim();
    const end = head.lastIndex + (close < 0 ? 0 : 2);
    items.add('overview', found.index, end, `${title}: ${doc}`, { subject: title });
  }
}
