import { cut, normalised } from '../finding.js';
import { isUntested, type Component, type Impact } from '../impact/impact.js';
import { bullets, listed, plural, table } from '../impact/phrases.js';
import { placed } from '../impact/quote.js';
import { statementsIn, type Statement } from '../impact/statements.js';
import type { Examined, Mode, ModeInput } from '../mode.js';
import { examineImpact, type Shown } from './examine-impact.js';

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
  text: 'critic-inversion',
  sections: [
    'Inverted Success Criteria',
    'Anti-Pattern Checklist',
    'Blind Spot Analysis',
    'Reusable Verification Criteria',
  ],
  optionalSections: ['Reusable Verification Criteria'],
  examine,
};

function examine(input: ModeInput): Promise<Examined> {
  return examineImpact('inversion', input, async (impact) => {
    const statements = input.signal.aborted ? [] : await statementsIn(input, impact);
    const guarantees = statements.map((said) => lookUp(said, impact));
    return {
      found: [...unassertedIn(guarantees), ...untestedIn(guarantees)],
      unable: unableOf(guarantees),
      sections: () => sectionsOf(guarantees, impact),
    };
  });
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
function unassertedIn(guarantees: readonly Guarantee[]): Shown[] {
  const bySentence = new Map<string, { first: Statement; components: Set<Component> }>();
  for (const { said, unasserted } of guarantees) {
    if (unasserted.length === 0) continue;
    const key = normalised(said.text);
    const group = bySentence.get(key) ?? { first: said, components: new Set() };
    bySentence.set(key, group);
    for (const each of unasserted) group.components.add(each);
  }
  return [...bySentence.values()].map(({ first, components }): Shown => {
    const all = [...components];
    const names = listed(
      all.map(({ name, line }) => `\`${name}\` (line ${line})`),
      6,
    );
    return {
      ...{ rule: 'INV_LOCK_UNASSERTED', severity: 'minor', place: first, words: first.text },
      text: `Asks of its callers: "${cut(first.text, quotedChars)}" Nothing in ${names} asserts it, so a caller that forgets it goes unnoticed.`,
      remedy: 'Assert it at the top of each, as with lockdep_assert_held().',
      places: all.map(({ path, line, name }) => ({ path, line, symbol: name })),
    };
  });
}

/** One finding per function, with its first guarantee. */
function untestedIn(guarantees: readonly Guarantee[]): Shown[] {
  const byComponent = new Map<Component, Statement[]>();
  for (const { untested, said } of guarantees)
    for (const each of untested) byComponent.set(each, [...(byComponent.get(each) ?? []), said]);
  return [...byComponent].flatMap(([component, [first, ...more]]): Shown[] => {
    if (first === undefined) return [];
    const { name, path, line, reach } = component;
    const others = more.length > 0 ? ` and ${more.length} more` : '';
    return [
      {
        rule: 'INV_GUARANTEE_UNTESTED',
        severity: (reach?.consumers ?? 0) > 0 ? 'minor' : 'note',
        text: `States of \`${name}\` (${path}:${line}): "${cut(first.text, quotedChars)}"${others}. No test that calls it and no assertion or bound in it was found.`,
        remedy: `Write a test that tries to break this in \`${name}\`, or name the one that does.`,
        ...{ place: first, words: `${component.id} ${first.text}` },
        places: [{ path, line, symbol: name }],
      },
    ];
  });
}

function sectionsOf(guarantees: readonly Guarantee[], impact: Impact): Record<string, string> {
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
  return {
    'Inverted Success Criteria': bullets(
      inverted,
      'The rules find no guarantee and no demand in it.',
    ),
    'Anti-Pattern Checklist': table(
      ['line', 'broken when this is untrue', 'severity', 'how to verify'],
      rows,
    ),
    'Blind Spot Analysis': bullets(blind, 'No function without a test was found.'),
    'Reusable Verification Criteria': bullets(criteria),
  };
}

function unableOf(guarantees: readonly Guarantee[]): string[] {
  const open = guarantees.filter(({ said }) => said.about.length === 0).length;
  return [
    ...(guarantees.length === 0
      ? ['to turn a guarantee round: the artifact states none in words that the rules know']
      : []),
    ...(open > 0 ? [`to look up ${plural(open, 'guarantee')} that name no code`] : []),
    'to decide whether a test that was found tests the guarantee itself: a reader or a model has to',
  ];
}
