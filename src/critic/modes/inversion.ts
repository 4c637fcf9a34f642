import { cut, findingOf, normalised } from '../finding.js';
import { changeFindings } from '../impact/change-findings.js';
import { impactOf } from '../impact/gather.js';
import { isUntested, type Component, type Impact } from '../impact/impact.js';
import { bullets, listed, plural, table, withoutSubject } from '../impact/phrases.js';
import { placed, Quotes } from '../impact/quote.js';
import { statementsIn, type Statement } from '../impact/statements.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import type { Finding } from '../shapes.js';

const quotedChars = 160;

/** A statement of the artifact, and what holds it. */
interface Guarantee {
  said: Statement;
  /** Tests, assertions and bounds, cited. */
  holds: string[];
  /** Functions that it promises something of, and that no test calls and no check guards. */
  untested: Component[];
  /** Functions whose callers must hold a lock, and that do not assert it. */
  unasserted: Component[];
}

/** S-013: what would make its own goals fail, and what stands against that. */
export const inversion: Mode = {
  name: 'inversion',
  description: 'its own guarantees turned round: which test, assertion or bound holds each',
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
  const statements = input.signal.aborted ? [] : await statementsIn(input, impact);
  const guarantees = statements.map((said) => lookUp(said, impact));
  const findings: Finding[] = [];
  const unable = unableOf(impact, guarantees);
  const examined = (): Examined => ({
    sections: sectionsOf(guarantees, impact),
    ...{ findings, score: null, unable, abort: '', dropped: 0 },
  });
  findings.push(...(await changeFindings('inversion', input)));
  const quotes = new Quotes(input.ground, input.artifact);
  for (const make of [unassertedFindings, untestedFindings])
    for (const found of await make(guarantees, quotes)) {
      if (input.signal.aborted) break;
      findings.push(found);
      input.partial(examined());
    }
  return examined();
}

function lookUp(said: Statement, impact: Impact): Guarantee {
  const holds = said.about.flatMap(({ checks, path, reach, name }) => {
    const [test] = reach?.tests ?? [];
    const [alike] = reach?.alike.tests ?? [];
    const through = (test?.depth ?? 0) > 1 ? ' through other functions' : '';
    return [
      ...checks
        .filter(({ rule }) => guarding.has(rule))
        .slice(0, 2)
        .map(({ text, line }) => `${text}, ${placed(path, line)}`),
      ...(test === undefined ? [] : [`a test calls \`${name}\`${through}: ${test.call_site}`]),
      ...(test === undefined && alike !== undefined
        ? [`a test calls something named \`${name}\`: ${alike.file_path}:${alike.line}`]
        : []),
    ];
  });
  const isUnguarded = ({ checks }: Component): boolean =>
    !checks.some(({ rule }) => guarding.has(rule));
  const isPromise = said.kind === 'promise';
  return {
    ...{ said, holds },
    untested: isPromise
      ? said.about.filter((each) => isUnguarded(each) && isUntested(each, impact))
      : [],
    unasserted:
      said.rule === 'locking-rule' && impact.isCode ? said.about.filter(isUnasserted) : [],
  };
}

/** Rules of O6 of which code checks something when it runs. */
const guarding = new Set(['assertion', 'locking-check', 'lock-annotation', 'bound']);

/** C alone has assertions on locks that everyone uses. */
function isUnasserted({ path, checks }: Component): boolean {
  return /\.[ch]$/.test(path) && !checks.some(({ rule }) => guarding.has(rule));
}

/** One finding per sentence: a file says the same of many functions. */
async function unassertedFindings(
  guarantees: readonly Guarantee[],
  quotes: Quotes,
): Promise<Finding[]> {
  const bySentence = new Map<string, { first: Statement; components: Set<Component> }>();
  for (const { said, unasserted } of guarantees) {
    if (unasserted.length === 0) continue;
    const key = normalised(said.text);
    const group = bySentence.get(key) ?? { first: said, components: new Set() };
    bySentence.set(key, group);
    for (const each of unasserted) group.components.add(each);
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
        text: `Asks of its callers: "${cut(first.text, quotedChars)}" Nothing in ${names} asserts it, so a caller that forgets it goes unnoticed.`,
        remedy: 'Assert it at the top of each, as with lockdep_assert_held().',
        evidence: await quotes.all(
          all.map(({ path, line, name }) => ({ path, line, symbol: name })),
        ),
      }),
    );
  }
  return findings;
}

/** One finding per function, with its first guarantee. */
async function untestedFindings(
  guarantees: readonly Guarantee[],
  quotes: Quotes,
): Promise<Finding[]> {
  const byComponent = new Map<Component, Statement[]>();
  for (const { untested, said } of guarantees)
    for (const each of untested) byComponent.set(each, [...(byComponent.get(each) ?? []), said]);
  const findings: Finding[] = [];
  for (const [component, [first, ...more]] of byComponent) {
    if (first === undefined) continue;
    const { name, path, line, reach } = component;
    const others = more.length > 0 ? ` and ${more.length} more` : '';
    findings.push(
      findingOf('inversion', {
        rule: 'INV_GUARANTEE_UNTESTED',
        severity: (reach?.consumers ?? 0) > 0 ? 'minor' : 'note',
        text: `States of \`${name}\` (${path}:${line}): "${cut(first.text, quotedChars)}"${others}. No test that calls it and no assertion or bound in it was found.`,
        remedy: `Write a test that tries to break this in \`${name}\`, or name the one that does.`,
        ...{ place: first, words: `${component.id} ${first.text}` },
        evidence: await quotes.all([{ path, line, symbol: name }]),
      }),
    );
  }
  return findings;
}

function sectionsOf(guarantees: readonly Guarantee[], impact: Impact): Examined['sections'] {
  const inverted = guarantees.map(
    ({ said }) =>
      `line ${said.line_start}: it has failed as soon as this is untrue: "${cut(said.text, quotedChars)}"`,
  );
  const rows = guarantees.map(({ said, holds, untested, unasserted }) => [
    `${said.line_start}`,
    cut(said.text, quotedChars),
    untested.length + unasserted.length > 0 ? 'minor' : 'note',
    holds.length > 0 ? listed(holds, 3) : 'not found: no test, assertion or bound',
  ]);
  const blind = impact.components
    .filter((each) => isUntested(each, impact))
    .map(({ name, path, line }) => `\`${name}\`, ${placed(path, line)}: no test calls it`);
  const criteria = guarantees.flatMap(({ said, holds }) =>
    holds.length === 0 ? [] : `line ${said.line_start}: ${listed(holds, 2)}`,
  );
  return [
    {
      title: 'Inverted Success Criteria',
      text: bullets(inverted, 'O6 finds no guarantee and no demand in it.'),
    },
    {
      title: 'Anti-Pattern Checklist',
      text: table(['line', 'broken when this is untrue', 'severity', 'how to verify'], rows),
    },
    {
      title: 'Blind Spot Analysis',
      text: bullets(blind, 'No function without a test was found.'),
    },
    { title: 'Reusable Verification Criteria', text: bullets(criteria) },
  ];
}

function unableOf(impact: Impact, guarantees: readonly Guarantee[]): string[] {
  const open = guarantees.filter(({ said }) => said.about.length === 0).length;
  return [
    ...impact.unable,
    ...withoutSubject(impact),
    ...(guarantees.length === 0
      ? ['to turn a guarantee round: the artifact states none that O6 knows']
      : []),
    ...(open > 0 ? [`to look up ${plural(open, 'guarantee')} that name no code`] : []),
    'to decide whether a test that was found tests the guarantee itself: a reader or a model has to',
  ];
}
