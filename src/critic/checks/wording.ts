import type { Found } from '../finding.js';
import type { MarkdownText } from '../artifact/markdown.js';
import { quoted, withoutCode, type Check, type Checked } from './check.js';

/** Requirements that nobody can test, and actions that name nothing to act on. */
export const wording: Check = ({ read }) =>
  read.isCode ? [] : [requirements(read), actions(read)];

const requires = /\b(?:MUST|SHALL|REQUIRED)\b|\bshall\b/;
/** Terms that ISO/IEC/IEEE 29148:2018, 5.2.7 warns of: a requirement with one of them cannot be verified. */
const vague =
  /\b(?:as (?:appropriate|needed|required|necessary|applicable)|(?:if|where|when) (?:possible|practical|appropriate|feasible)|user[- ]friendly|easy to use|cost[- ]effective|state[- ]of[- ]the[- ]art|best practices?|timely(?: manner)?|adequate(?:ly)?|sufficient(?:ly)?|reasonabl[ey]|appropriate(?:ly)?|properly|seamless(?:ly)?|robust(?:ly)?|and so on|etc\.?|minimal(?:ly)?|as (?:fast|quickly|soon) as possible)(?![\w-])/i;

function requirements({ sentences }: MarkdownText): Checked {
  const all = sentences.filter(({ text }) => requires.test(withoutCode(text)));
  const faults = all.flatMap(({ text, line_start, line_end }): Found[] => {
    const [term] = vague.exec(withoutCode(text)) ?? [];
    if (term === undefined) return [];
    return [
      {
        ...{ rule: 'REQUIREMENT_VAGUE', severity: 'minor', words: text },
        text: `Nobody can test "${term}": ${quoted(text)}`,
        remedy: `Say by what it is seen: a figure, a limit, an example.`,
        place: { line_start, line_end },
      },
    ];
  });
  return { aspect: 'clarity', what: 'requirements that can be tested', looked: all.length, faults };
}

const actionTitle =
  /\b(?:recommend(?:ed|ation)s?|next steps|action items?|actions|remediations?|mitigations?|to-?dos?|follow[- ]ups?|improvements?|migration|rollout|rollback|work items|tasks)\b/i;
const vagueAction =
  /^[*_\s]*(?:consider|improve|investigate|look (?:into|at)|optimi[sz]e|enhance|explore|think about|address|handle|revisit|clean up|work on|be careful|ensure quality|make sure everything)\b/i;
/** A place, a name of code, a figure, or somebody who does it. */
const names =
  /`|\]\(|\d|[\w-]+\/[\w-]+|\b\w+\.\w{2,4}\b|\b[a-z]+[A-Z]\w+|\b[A-Za-z]+_\w+|@\w|\b[A-Z]{2,}/;
/** Beyond this it is explained. */
const wordsMax = 12;

/** Items of sections that say what to do. */
function actions({ items, parts }: MarkdownText): Checked {
  const spans = parts.filter(({ path }) => path.some((title) => actionTitle.test(title)));
  const all = items.filter(({ line_start }) =>
    spans.some((part) => part.line_start <= line_start && line_start <= part.line_end),
  );
  const faults = all.flatMap(({ text, line_start, line_end }): Found[] => {
    const isShort = text.split(' ').length <= wordsMax;
    if (!vagueAction.test(text) || names.test(text) || !isShort || line_end - line_start > 1)
      return [];
    return [
      {
        ...{ rule: 'ACTION_VAGUE', severity: 'minor', words: text },
        text: `Says neither where nor what to change: ${quoted(text)}`,
        remedy: 'Name the place, the change, and how it is seen to be done.',
        place: { line_start, line_end },
      },
    ];
  });
  const what = 'actions that say what to do where';
  return { aspect: 'actionability', what, looked: all.length, faults };
}
