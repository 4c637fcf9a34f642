import { lookAt } from '../checks/all.js';
import { withoutCode } from '../checks/check.js';
import { isDecisionRecord } from '../checks/structure.js';
import type { Found } from '../finding.js';
import { partAt, type MarkdownText, type Sentence } from '../artifact/markdown.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import { examinedOf, findingsOf, listed, sectionsOf } from './looked.js';

const thesisTitle =
  /^(?:[\d.]+\s*)?(?:the )?(?:decisions?|decision outcome|summary|abstract|overview|tl;?dr|proposal|goals?|conclusions?|thesis|purpose|recommendation)\b/i;
const thesis =
  /\b(?:we (?:will|shall|have (?:chosen|decided)|chose|choose|decided?|propose|recommend|adopt|use)|this (?:document|design|adr|rfc|proposal|page|paper|module|package) (?:proposes|describes|defines|specifies|recommends|argues|decides)|(?:it (?:was|is)|we(?:'ve| have)) decided|the (?:chosen|preferred) (?:option|approach|solution))\b/i;
const assumption =
  /\b(?:assum(?:es?|ed|ing|ptions?)|presuppos\w+|provided that|given that|as long as|under the condition|reli(?:es|ed) on|rely on|depends? on|requires? that|trusts? that|takes? for granted|prerequisites?)\b/i;
const assumptionTitle = /\b(?:assumptions?|prerequisites?|preconditions?|constraints|premises?)\b/i;
const reason =
  /\b(?:because|therefore|thus|hence|so that|which means|as a result|consequently|in order to|this is why|that is why|otherwise|, since)\b/i;
const toldMax = 12;

/** The strongest reading of an artifact in its own words, before anybody speaks against it. */
export const steelman: Mode = {
  name: 'steelman',
  description:
    'The strongest case for the artifact, in its own words, before anybody speaks against it.',
  criteria: [
    { name: 'Argument Fidelity', weight: 0.35 },
    { name: 'Assumption Explicitation', weight: 0.25 },
    { name: 'Reasoning Completeness', weight: 0.25 },
    { name: 'Charitable Strength', weight: 0.15 },
  ],
  sections: [
    { title: 'Core Thesis', isRequired: true },
    { title: 'Explicit Assumptions', isRequired: true },
    { title: 'Strongest Reasoning Chain', isRequired: true },
    { title: 'Supporting Evidence', isRequired: true },
    { title: 'Unstated Supporting Arguments', isRequired: false },
  ],
  text: 'critic-steelman',

  async examine(input): Promise<Examined> {
    const { read, checked, unable } = await lookAt(input);
    const claims = thesisOf(read);
    const assumed = assumptionsOf(read);
    const reasons = read.sentences.filter(({ text }) => reason.test(withoutCode(text)));
    const links = checked.filter(({ what }) => /^links/.test(what));
    const evidence = await evidenceOf(read, input);
    const faults = [...links.flatMap((each) => each.faults), ...withoutThesis(read, input, claims)];
    return examinedOf({
      findings: await findingsOf('steelman', faults, input, read.isCode),
      unable: [
        ...unable,
        'to say what the artifact takes for granted without saying so',
        'to make an argument stronger than its words',
      ],
      sections: sectionsOf({
        'Core Thesis': quotes(claims, 'No sentence says what is decided or proposed.'),
        'Explicit Assumptions': quotes(assumed, 'None is stated.'),
        'Strongest Reasoning Chain': quotes(
          reasons,
          'No sentence gives a reason in words that tell one.',
        ),
        'Supporting Evidence': listed(evidence, 'It names no file and no source.'),
      }),
    });
  },
};

function quotes(sentences: readonly Sentence[], none: string): string {
  const shown = sentences.slice(0, toldMax);
  const rest = sentences.length - shown.length;
  const lines = shown.map(({ text, line_start }) => `line ${line_start}: ${text}`);
  return listed([...lines, ...(rest > 0 ? [`${rest} more like these`] : [])], none);
}

/** What it says of itself; else the first sentence of a section that holds it; else its first. */
function thesisOf(read: MarkdownText): Sentence[] {
  const plain = read.sentences.filter(({ isQuote }) => !isQuote);
  if (read.isCode) return ofCode(plain, read.lines);
  const said = plain.filter(({ text }) => thesis.test(withoutCode(text)));
  const titled = new Map<number, Sentence>();
  for (const sentence of plain) {
    const part = partAt(read.parts, sentence.line_start);
    const title = read.parts[part]?.heading?.title ?? '';
    if (thesisTitle.test(title) && !titled.has(part)) titled.set(part, sentence);
  }
  const all = [...new Set([...titled.values(), ...said])];
  return all.length > 0 ? all : plain.slice(0, 1);
}

/** A legal notice is no word on what the code is for. */
const legal = /\b(?:copyright|licen[cs]e|SPDX|all rights reserved|redistribut\w+)\b|\(c\)/i;
const declares =
  /^\s{0,8}(?:export\s+(?:default\s+)?(?:abstract\s+)?(?:class|function|async function)|(?:public\s+)?(?:abstract\s+|final\s+)?class\s|pub\s+(?:struct|fn|trait)\s|class\s|type\s+[A-Z]\w+\s+(?:struct|interface))/;
/** A remark that begins here is about the whole file. */
const headLines = 8;

/** What stands at the head of the file, else above the first thing that it gives to others. */
function ofCode(plain: readonly Sentence[], lines: readonly string[]): Sentence[] {
  const told = plain.filter(({ text }) => !legal.test(text));
  const head = told.find(({ line_start }) => line_start <= headLines);
  if (head !== undefined && isOfFile(head, lines)) return [head];
  const above = told.filter(({ line_end }) => declares.test(declared(lines, line_end)));
  const ofClass = above.find(({ line_end }) => /\bclass\b/.test(declared(lines, line_end)));
  const chosen = ofClass ?? above[0];
  return chosen === undefined ? [] : [chosen];
}

/** The first line behind a remark that is neither remark nor annotation. */
function declared(lines: readonly string[], from: number): string {
  return lines.slice(from).find((line) => !/^\s*(?:$|\*|\/\/|#|\/\*|@)/.test(line)) ?? '';
}

/** Behind it stand imports or includes, or nothing at once: it is no remark on what follows. */
function isOfFile({ line_end }: Sentence, lines: readonly string[]): boolean {
  const rest = lines.slice(line_end).filter((line) => !/^\s*(?:\*|\/\/|\/\*|"""|\*\/)/.test(line));
  const next = rest.find((line) => line.trim() !== '') ?? '';
  return /^\s*(?:import\b|#\s*include|#define pr_fmt|from\s|package\s|use\s|'use strict'|const\b.*\brequire\()/.test(
    next,
  );
}

function assumptionsOf(read: MarkdownText): Sentence[] {
  return read.sentences.filter(({ text, line_start }) => {
    const { path = [] } = read.parts[partAt(read.parts, line_start)] ?? {};
    return path.some((title) => assumptionTitle.test(title)) || assumption.test(withoutCode(text));
  });
}

/** A record of a decision that decides nothing has no strongest reading. */
function withoutThesis(
  read: MarkdownText,
  { context, artifact }: ModeInput,
  claims: readonly Sentence[],
): Found[] {
  const isDecision =
    context.target_type === 'TGT-DEC' && !read.isCode && isDecisionRecord(artifact, read);
  const isSaid = claims.some(
    ({ text, line_start }) =>
      thesis.test(withoutCode(text)) ||
      thesisTitle.test(read.parts[partAt(read.parts, line_start)]?.heading?.title ?? ''),
  );
  if (!isDecision || isSaid || read.sentences.length === 0) return [];
  return [
    {
      ...{ rule: 'DECISION_UNSTATED', severity: 'major', words: 'decision' },
      text: 'No sentence and no heading of this record says what is decided.',
      remedy: 'Say it in a sentence that begins with who decides: "We will …".',
    },
  ];
}

/** Sources that it names, and what is known of each. */
async function evidenceOf(read: MarkdownText, { ground, artifact }: ModeInput): Promise<string[]> {
  const paths = ground === undefined ? undefined : new Set(await ground.paths());
  const files = new Map<string, { line: number; isThere: boolean }>();
  for (const { text, line } of read.codes) {
    const [path = ''] = /^[\w.@+-]+(?:\/[\w.@+-]+)+(?=$|:\d|#L\d)/.exec(text) ?? [];
    // A name with a slash that no tree holds may be anything.
    if (path !== '' && path !== artifact.path && paths?.has(path) === true && !files.has(path))
      files.set(path, { line, isThere: true });
  }
  const links = read.links
    .filter(({ kind, target }) => kind === 'link' && /^https?:/.test(target))
    .map(({ target, line }) => `line ${line}: ${target} (not visited)`);
  const named = [...files].map(([path, { line }]) => `line ${line}: \`${path}\` (in the tree)`);
  return [...named, ...links];
}
