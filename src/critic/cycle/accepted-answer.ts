import { exceeds } from '../score/decimals.js';
import { bounded, findingOf, normalised } from '../finding.js';
import { type ModelAnswer, type ModelFinding } from '../model/model-answer.js';
import { forReader, type Examined, type Mode, type ModeInput } from '../mode.js';
import { evidenceMin, highScore } from '../modes/llm-as-judge.js';
import { Quotable, verifiedEvidence, withoutInvented } from '../artifact/quoting.js';
import { readRules } from '../rules/read-rules.js';
import { dimensionCritical, scoreOf } from '../score/scoring.js';
import {
  criticLimits,
  type AbortReason,
  type DimensionScore,
  type Finding,
  type Score,
  type Section,
} from '../shapes.js';

/** What of an answer stands, added to what the rules found. Nothing of that is changed by it. */
export async function acceptedAnswer(
  mode: Mode,
  input: ModeInput,
  examined: Examined,
  answer: ModelAnswer,
): Promise<Examined> {
  const artifact = new Quotable(input.artifact.text);
  const accepted = await acceptedFindings(mode, input, artifact, answer.findings);
  const known = new Set(
    examined.findings.flatMap(({ id, rule, line_start }) => [id, `${rule} ${line_start}`]),
  );
  const added = accepted.findings.filter(
    ({ id, rule, line_start }) => !known.has(id) && !known.has(`${rule} ${line_start}`),
  );
  const { score, dropped } = acceptedScores(mode, examined.score, answer, artifact);
  const found: Examined = {
    ...examined,
    score,
    unable: examined.unable.filter((each) => !isDone(each, score)),
    abort: examined.abort === '' ? accepted.abort : examined.abort,
    dropped: examined.dropped + accepted.dropped + dropped,
  };
  const withFindings = fitting(found, examined.findings, added);
  const sources = [
    artifact,
    ...[...input.rules, ...sourcesOf(input, examined)].map(({ text }) => new Quotable(text)),
  ];
  const retold = mode.retold?.(withFindings, input) ?? [];
  const sections = mergedSections(mode, examined.sections, retold, answer.sections, sources);
  const merged = { ...withFindings, sections: sections.sections };
  return fitting(
    { ...merged, dropped: merged.dropped + sections.dropped },
    examined.findings,
    added,
  );
}

/** What the rules left to a model, or to a dimension that it has judged. */
function isDone(unable: string, score: Score | null): boolean {
  const judged = score?.dimensions.filter((each) => each.score !== null) ?? [];
  return (
    unable.endsWith(forReader) || judged.some(({ name }) => unable.startsWith(`to judge ${name}: `))
  );
}

/** As many of a model's findings as there is room beside those of the rules, which are never left out for them. */
function fitting(found: Examined, own: readonly Finding[], added: readonly Finding[]): Examined {
  const ids = new Set(own.map(({ id }) => id));
  for (
    let count = Math.min(added.length, criticLimits.findings - own.length);
    count > 0;
    count -= 1
  ) {
    const all = bounded({ ...found, findings: [...own, ...added.slice(0, count)] });
    const kept = all.findings.filter(({ by, id }) => by === 'rules' && ids.has(id));
    if (kept.length === own.length) return all;
  }
  return bounded({ ...found, findings: [...own] });
}

interface AcceptedFindings {
  findings: Finding[];
  abort: AbortReason | '';
  dropped: number;
}

async function acceptedFindings(
  mode: Mode,
  input: ModeInput,
  artifact: Quotable,
  answered: readonly ModelFinding[],
): Promise<AcceptedFindings> {
  const hard = new HardRules(input);
  const accepted: AcceptedFindings = { findings: [], abort: '', dropped: 0 };
  for (const each of answered) {
    const place = artifact.find(each.quote);
    const evidence = await verifiedEvidence(each.evidence, input);
    if (place === undefined || evidence === undefined) {
      accepted.dropped += 1;
      continue;
    }
    const broken = each.breaks === '' ? undefined : hard.find(each.breaks);
    const abort = broken === undefined ? '' : abortOf(mode, input, each, broken, evidence.length);
    if (accepted.abort === '') accepted.abort = abort;
    const { rule, text, remedy, severity } = each;
    accepted.findings.push(
      findingOf(mode.name, {
        ...{ rule, text, remedy, place, evidence, words: each.quote, by: 'model' },
        isHard: abort !== '',
        severity: abort === '' ? severity : 'critical',
      }),
    );
  }
  return accepted;
}

/** A model's word ends a review only with the words of a rule that must not be broken, and those that break it. */
function abortOf(
  { name }: Mode,
  { context }: ModeInput,
  { rule }: ModelFinding,
  broken: { isGovernance: boolean },
  evidenceCount: number,
): AbortReason | '' {
  if (name === 'chain-of-verification' && rule === 'CLAIM_CONTRADICTED' && evidenceCount > 0)
    return 'HARD_RULE_CONTRADICTED';
  const isSerious = context.criticality === 'C3' || context.criticality === 'C4';
  if (name === 'constitutional' && isSerious && broken.isGovernance) return 'GOVERNANCE_VIOLATION';
  return '';
}

/** Rules that must not be broken, by their words. */
class HardRules {
  readonly #rules: { words: Quotable; isGovernance: boolean }[];

  constructor({ rules }: ModeInput) {
    this.#rules = readRules(rules)
      .rules.filter(({ level }) => level === 'HARD')
      .map(({ text, isGovernance }) => ({ words: new Quotable(text), isGovernance }));
  }

  find(words: string): { isGovernance: boolean } | undefined {
    return this.#rules.find((rule) => rule.words.holds(words));
  }
}

/**
 * A model's scores beside those of the rules. A good score has to be shown by words that stand there, one above
 * `highScore` by three; a bad one stands. No score is above what the rules have counted.
 */
function acceptedScores(
  mode: Mode,
  own: Score | null,
  { scores }: ModelAnswer,
  artifact: Quotable,
): { score: Score | null; dropped: number } {
  if (mode.dimensions === undefined || own === null) return { score: own, dropped: 0 };
  let dropped = 0;
  const dimensions = own.dimensions.map((dimension): DimensionScore => {
    const its = scores.find(({ name }) => name === dimension.name);
    if (its?.score == null) return dimension;
    const shown = its.evidence.filter((quote) => artifact.holds(quote));
    dropped += its.evidence.length - shown.length;
    if (shown.length === 0 && exceeds(its.score, dimensionCritical)) {
      dropped += 1;
      return dimension;
    }
    const most = shown.length < evidenceMin ? Math.min(its.score, highScore) : its.score;
    // What holds as far as it was counted is no reason against a better score.
    const isCapped =
      dimension.score !== null && dimension.score < most && (dimension.faults ?? 0) > 0;
    const why = isCapped ? `${dimension.why}; a model gives ${its.score}: ${its.why}` : its.why;
    const score = isCapped ? dimension.score : most;
    const evidence = [...dimension.evidence, ...shown].slice(0, evidenceMin);
    return { ...dimension, score, why: why.slice(0, criticLimits.findingChars), evidence };
  });
  return { score: scoreOf(dimensions), dropped };
}

/** In the order of the mode: the words of the rules, then those of the model that invent no quote. */
function mergedSections(
  mode: Mode,
  own: readonly Section[],
  retold: readonly Section[],
  answered: readonly Section[],
  sources: readonly Quotable[],
): { sections: Section[]; dropped: number } {
  let dropped = 0;
  const textIn = (sections: readonly Section[], title: string): string | undefined =>
    sections.find((each) => normalised(each.title) === normalised(title))?.text;
  const sections = mode.sections.flatMap((title): Section[] => {
    const figures = textIn(retold, title);
    if (figures !== undefined) return [{ title, text: figures }];
    const words = withoutInvented(textIn(answered, title) ?? '', sources);
    dropped += words.dropped;
    const text = [textIn(own, title) ?? '', words.text].filter((each) => each !== '').join('\n\n');
    return text === '' ? [] : [{ title, text }];
  });
  return { sections, dropped };
}

/** What else a model was given and may quote. */
function sourcesOf({ before, criteria = '' }: ModeInput, examined: Examined): { text: string }[] {
  const findings = [...examined.findings, ...before.flatMap((each) => each.findings)];
  const earlier = before.flatMap(({ sections }) => sections);
  return [{ text: findings.map(({ text }) => text).join('\n') }, { text: criteria }, ...earlier];
}
