import { testPath } from '../../pgc/analyse/surfaces.js';
import { cut, findingOf, normalised } from '../finding.js';
import { changeFindings } from '../impact/change-findings.js';
import { boundsIn, clauseAt, meantIn, numbersOf, saidIn, type Said } from '../impact/claims.js';
import { aboutEffect, effectKinds, type Effect, type EffectKind } from '../impact/effects.js';
import { impactOf } from '../impact/gather.js';
import {
  fileOf,
  isUntested,
  type Component,
  type FileFacts,
  type Impact,
} from '../impact/impact.js';
import { placed, Quotes } from '../impact/quote.js';
import { listed } from '../impact/subject.js';
import { bullets, placeIn, plural, table, withoutSubject } from '../impact/phrases.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import type { Finding } from '../shapes.js';

const guarantee =
  /\b(?:must(?: not| never)?|never|always|at most|no more than|exactly once|only once|shall(?: not)?|guarantees?|guaranteed)\b/i;
/** `as if never tried` promises nothing of what was tried. */
const compared = /\bas (?:if|though)\s+(?:\w+\s+){0,2}(?:never|always)\b/gi;
/** Asked of whoever calls it, no promise of its own. */
const precondition =
  /\b(?:callers?|you|users?|drivers?)\b[^.]{0,40}\b(?:must|shall)\b|\b(?:must|shall)(?: not| never)? (?:be|have been|hold|own)\b/i;
const ofLock = /\b(?:locks?|locked|mutex|semaphore|spinlock|rcu|held|hold)\b|\w_lock\b|->lock\b/i;
const asserting =
  /\b(?:lockdep_\w+|assert\w*|BUG_ON|WARN_ON\w*|might_sleep|\w*is_locked|__must_hold|__releases|__acquires)\b/;
const guaranteesMax = 200;
/** Clauses of one sentence that are looked at: each costs its whole length. */
const clausesMax = 12;
const quotedChars = 160;

/** What was found that holds a stated guarantee. */
interface Guarantee {
  said: Said;
  /** Cited; empty: none was found. */
  holds: string[];
  /** There was something to look for. */
  isLookedUp: boolean;
  /** Stated bounds that stand nowhere in the code that is named, and that code. */
  lost: string[];
  lostIn: Component[];
  /** Functions that it speaks of and no test was found to call. */
  untested: Component[];
  /** Functions whose callers must hold a lock, and that do not assert it. */
  unasserted: Component[];
}

interface BlindSpot {
  kind: EffectKind;
  places: (Effect & { path: string })[];
}

/** S-013: what would make its own goals fail, and what stands against that. */
export const inversion: Mode = {
  name: 'inversion',
  description: 'its own guarantees turned round: what holds each, and what it never speaks of',
  text: 'critic-inversion',
  criteria: [
    { name: 'Anti-Pattern Coverage', weight: 0.3 },
    { name: 'Specificity', weight: 0.25 },
    { name: 'Creativity', weight: 0.25 },
    { name: 'Actionability', weight: 0.2 },
  ],
  sections: [
    { title: 'Inverted Success Criteria', isRequired: true },
    { title: 'Anti-Pattern Checklist', isRequired: true },
    { title: 'Blind Spot Analysis', isRequired: true },
    { title: 'Reusable Verification Criteria', isRequired: false },
  ],
  examine,
};

async function examine(input: ModeInput): Promise<Examined> {
  const impact = await impactOf(input);
  const stated = saidIn(input.artifact, impact).filter(({ text }) =>
    guarantee.test(text.replace(compared, '')),
  );
  const guarantees = stated
    .slice(0, guaranteesMax)
    .map((said) => lookUp(impact.isCode ? said : ofClauses(said, impact), impact));
  const blind = blindSpots(impact, input.artifact.text);
  const findings: Finding[] = [];
  const unable = unableOf(impact, guarantees, stated.length);
  const examined = (): Examined => ({
    sections: sectionsOf(guarantees, blind, impact),
    ...{ findings, score: null, unable, abort: '', dropped: 0 },
  });
  findings.push(...(await changeFindings('inversion', input)));
  const quotes = new Quotes(input.ground, input.artifact);
  for (const make of [
    ...guarantees.map((each) => () => lostFindings(each, impact, quotes)),
    () => unassertedFindings(guarantees, quotes),
    () => untestedFindings(guarantees, quotes),
    ...blind.map((each) => () => blindFinding(each, input, impact, quotes)),
  ]) {
    if (input.signal.aborted) break;
    const made = await make();
    if (made.length === 0) continue;
    findings.push(...made);
    input.partial(examined());
  }
  return examined();
}

/** In a document a word of guarantee is about what its own clause names. */
function ofClauses(said: Said, impact: Impact): Said {
  const words = [...said.text.matchAll(new RegExp(guarantee, 'gi'))].slice(0, clausesMax);
  const clauses = words.map(({ index }) => clauseAt(said.text, index));
  return { ...said, about: meantIn(clauses.join('\n'), impact) };
}

function lookUp(said: Said, impact: Impact): Guarantee {
  const { holds, lost, lostIn, isStated } = boundsOf(said, impact);
  const untested: Component[] = [];
  const unasserted: Component[] = [];
  const asks = precondition.test(said.text);
  for (const component of said.about) {
    const { reach, checks, name, path } = component;
    for (const { text, line } of checks.slice(0, 2)) holds.push(`${text}, ${placed(path, line)}`);
    const [test] = reach?.tests ?? [];
    const [alike] = reach?.alike.tests ?? [];
    if (test !== undefined)
      holds.push(
        `a test calls \`${name}\`${test.depth > 1 ? ' through others' : ''}: ${test.call_site}`,
      );
    else if (alike !== undefined)
      holds.push(`a test calls something named \`${name}\`: ${alike.file_path}:${alike.line}`);
    if (asks) {
      if (isUnasserted(component, said, impact)) unasserted.push(component);
    } else if (promises(said, component, impact) && checks.length === 0)
      if (isUntested(component, impact)) untested.push(component);
  }
  const isLookedUp = isStated || said.about.length > 0;
  return { said, holds, lost, lostIn, untested, unasserted, isLookedUp };
}

/**
 * In a document a bound is that of the code which its own clause names; it is lost where no file that the document names has
 * the number. In source code it may be that of something imported.
 */
function boundsOf(
  said: Said,
  impact: Impact,
): Pick<Guarantee, 'holds' | 'lost' | 'lostIn'> & { isStated: boolean } {
  const holds: string[] = [];
  const lost: string[] = [];
  const lostIn = new Set<Component>();
  const bounds = said.isRow ? [] : boundsIn(said.text).slice(0, clausesMax);
  let isStated = false;
  for (const { stated, at, values } of bounds) {
    const named = impact.isCode ? [] : meantIn(clauseAt(said.text, at), impact);
    const own = named.flatMap(({ path }) => fileOf(impact, path) ?? []);
    if (!impact.isCode && own.length === 0) continue;
    isStated = true;
    const place = [...own, ...impact.files].flatMap((file) => holding(file, values))[0];
    if (place !== undefined) holds.push(`the bound "${stated}" stands at ${place}`);
    else {
      lost.push(stated);
      for (const each of named) lostIn.add(each);
    }
  }
  return { holds, lost, lostIn: [...lostIn], isStated };
}

function holding({ path, view }: FileFacts, values: readonly number[]): string[] {
  const numbers = view === undefined ? undefined : numbersOf(view);
  const line = values.flatMap((value) => numbers?.get(value) ?? [])[0];
  return line === undefined ? [] : [placed(path, line)];
}

/** A remark within a function tells how it works; what it promises stands above it. */
function promises({ line_end }: Said, { kind, line }: Component, { isCode }: Impact): boolean {
  if (!['function', 'method', 'class'].includes(kind)) return false;
  return !isCode || line_end < line;
}

/** What is checked when somebody runs it with the checks of locks on. Only C says of its locks who must hold them. */
function isUnasserted(
  { path, line, line_end, checks }: Component,
  said: Said,
  impact: Impact,
): boolean {
  const view = fileOf(impact, path)?.view;
  if (!impact.isCode || view?.family !== 'c' || !ofLock.test(said.text)) return false;
  if (checks.some(({ rule }) => rule !== 'complexity')) return false;
  return !asserting.test(view.code.slice(view.offsetOf(line), view.offsetOf(line_end + 1)));
}

async function lostFindings(
  { said, lost, lostIn }: Guarantee,
  impact: Impact,
  quotes: Quotes,
): Promise<Finding[]> {
  if (lost.length === 0) return [];
  const where = impact.isCode
    ? 'this file'
    : listed([...new Set(lostIn.map(({ path }) => path))], 3);
  // In a remark the bound may be that of something imported.
  const severity = impact.isCode ? 'note' : 'minor';
  return [
    findingOf('inversion', {
      ...{ rule: 'INV_LIMIT_NOT_FOUND', severity, place: said, words: said.text },
      text: `States "${lost.join('", "')}", and no such number was found in the code of ${where}.`,
      remedy: 'Name the constant that holds the bound, or correct the figure.',
      evidence: impact.isCode
        ? []
        : await quotes.all(lostIn.map(({ path, line, name }) => ({ path, line, symbol: name }))),
    }),
  ];
}

/** One finding of each sentence: a file says the same of many functions. */
async function unassertedFindings(
  guarantees: readonly Guarantee[],
  quotes: Quotes,
): Promise<Finding[]> {
  const bySentence = new Map<string, { first: Said; components: Set<Component> }>();
  for (const { said, unasserted } of guarantees) {
    if (unasserted.length === 0) continue;
    const key = normalised(said.text);
    const its = bySentence.get(key) ?? { first: said, components: new Set() };
    bySentence.set(key, its);
    for (const each of unasserted) its.components.add(each);
  }
  const findings: Finding[] = [];
  for (const { first, components } of bySentence.values()) {
    const all = [...components];
    const names = listed(
      all.map(({ name, line }) => `\`${name}\` (line ${line})`),
      6,
    );
    findings.push(
      findingOf('inversion', {
        ...{ rule: 'INV_LOCK_UNASSERTED', severity: 'minor', place: first, words: first.text },
        text: `Asks of its callers: "${cut(first.text, quotedChars)}" Nothing in ${names} asserts it: a caller that forgets it is not found out.`,
        remedy: 'Assert it at the top of each, as with lockdep_assert_held().',
        evidence: await quotes.all(
          all.map(({ path, line, name }) => ({ path, line, symbol: name })),
        ),
      }),
    );
  }
  return findings;
}

/** One finding of each function, with its first guarantee. */
async function untestedFindings(
  guarantees: readonly Guarantee[],
  quotes: Quotes,
): Promise<Finding[]> {
  const byComponent = new Map<Component, Said[]>();
  for (const { untested, said, lost } of guarantees)
    if (lost.length === 0)
      for (const each of untested) byComponent.set(each, [...(byComponent.get(each) ?? []), said]);
  const findings: Finding[] = [];
  for (const [component, [first, ...more]] of byComponent) {
    if (first === undefined) continue;
    const { name, path, line, reach } = component;
    findings.push(
      findingOf('inversion', {
        ...{
          rule: 'INV_GUARANTEE_UNTESTED',
          severity: (reach?.consumers ?? 0) > 0 ? 'minor' : 'note',
        },
        text: `States of \`${name}\` (${path}:${line}): "${cut(first.text, quotedChars)}"${more.length > 0 ? ` and ${more.length} more` : ''}. No test that calls it, no assertion and no bound in it was found.`,
        remedy: `Write a test that tries to break this in \`${name}\`, or name the one that does.`,
        ...{ place: first, words: `${component.id} ${first.text}` },
        evidence: await quotes.all([{ path, line, symbol: name }]),
      }),
    );
  }
  return findings;
}

/** What nobody needs a word about: a document is no manual of its command line. */
const plain: ReadonlySet<EffectKind> = new Set(['environment', 'arguments']);

/** Kinds of failure that the code has and the document never speaks of. Of source code nothing is expected to speak. */
function blindSpots(impact: Impact, text: string): BlindSpot[] {
  if (impact.isCode) return [];
  return effectKinds.flatMap((kind) => {
    if (plain.has(kind) || aboutEffect[kind].words.test(text)) return [];
    const places = impact.components
      .filter(({ path }) => !testPath.test(path))
      .flatMap(({ path, effects }) =>
        effects.filter((each) => each.kind === kind).map((each) => ({ ...each, path })),
      );
    return places.length === 0 ? [] : [{ kind, places }];
  });
}

async function blindFinding(
  { kind, places }: BlindSpot,
  { artifact }: ModeInput,
  impact: Impact,
  quotes: Quotes,
): Promise<Finding[]> {
  const { does, fails } = aboutEffect[kind];
  const [first] = places;
  if (first === undefined) return [];
  const calls = listed(
    places.map(({ call, path, line }) => `\`${call}\` at ${path}:${line}`),
    3,
  );
  return [
    findingOf('inversion', {
      ...{ rule: 'INV_BLIND_SPOT', severity: 'minor', words: `blind spot ${kind}` },
      text: `The code that it names ${does} (${calls}), and the document has no word on what happens when ${fails}.`,
      remedy: `Say what happens when ${fails}, or name where that is said.`,
      place: placeIn(first.path, first.line, artifact, impact),
      evidence: await quotes.all(places),
    }),
  ];
}

function sectionsOf(
  guarantees: readonly Guarantee[],
  blind: readonly BlindSpot[],
  { isCode }: Impact,
): Examined['sections'] {
  const known = guarantees.filter(({ isLookedUp }) => isLookedUp);
  const inverted = known.map(
    ({ said }) =>
      `line ${said.line_start}: it has failed as soon as this is untrue: "${cut(said.text, quotedChars)}"`,
  );
  const rows = known.map(({ said, holds, lost, untested, unasserted }) => [
    `${said.line_start}`,
    cut(said.text, quotedChars),
    lost.length + untested.length + unasserted.length > 0 ? 'minor' : 'note',
    holds.length > 0 ? listed(holds, 3) : 'not found: no test, assertion or bound',
  ]);
  const spots = blind.map(
    ({ kind, places }) =>
      `${kind}: ${listed(
        places.map(({ call, path, line }) => `\`${call}\` ${path}:${line}`),
        3,
      )}, never spoken of`,
  );
  const criteria = known.flatMap(({ said, holds }) =>
    holds.length === 0 ? [] : `line ${said.line_start}: ${listed(holds, 2)}`,
  );
  return [
    {
      title: 'Inverted Success Criteria',
      text: bullets(inverted, 'It states nothing that code could be held against.'),
    },
    {
      title: 'Anti-Pattern Checklist',
      text: table(['line', 'would be broken by its contrary', 'severity', 'how to verify'], rows),
    },
    {
      title: 'Blind Spot Analysis',
      text: isCode
        ? 'Not looked for: source code need not speak of what it does.'
        : bullets(spots, 'None was found in the code that it names.'),
    },
    { title: 'Reusable Verification Criteria', text: bullets(criteria) },
  ];
}

function unableOf(impact: Impact, guarantees: readonly Guarantee[], stated: number): string[] {
  const open = guarantees.filter(({ isLookedUp }) => !isLookedUp).length;
  return [
    ...impact.unable,
    ...withoutSubject(impact),
    ...(stated > guarantees.length
      ? [`to look up ${stated - guarantees.length} of ${stated} guarantees`]
      : []),
    ...(open > 0
      ? [
          `to look up ${plural(open, 'guarantee')} that name no code and no bound: a reader or a model has to`,
        ]
      : []),
    'to tell whether a test that was found tests the guarantee itself: that needs a reader or a model',
  ];
}
