import { atLeast } from '../score/decimals.js';
import { lookAt } from '../checks/all.js';
import { sorted } from '../finding.js';
import { knownClaims } from '../review/known-claims.js';
import type { Examined, Mode, ModeInput, Weighted } from '../mode.js';
import { applyRules } from '../rules/apply-rules.js';
import { readCriteria } from '../rules/read-criteria.js';
import {
  dimensionCritical,
  ofAspects,
  rulesLookedAt,
  scoreOf,
  sharedScore,
  unjudged,
  unscored,
} from '../score/scoring.js';
import { qualityGate, type Section } from '../shapes.js';
import { examinedOf, faultsOf, findingsOf, knownBy, listed, sectionsOf } from './looked.js';
import { areas, breakdown, qualityScore, strengths } from './score-sections.js';

/** The rubric of jerry's quality standard (its single source of truth, version 1.6). */
const completeness: Weighted = { name: 'Completeness', weight: 0.2 };
const consistency: Weighted = { name: 'Internal Consistency', weight: 0.2 };
const rigor: Weighted = { name: 'Methodological Rigor', weight: 0.2 };
const evidence: Weighted = { name: 'Evidence Quality', weight: 0.15 };
const actionability: Weighted = { name: 'Actionability', weight: 0.15 };
const traceability: Weighted = { name: 'Traceability', weight: 0.1 };

export const judgeDimensions: readonly Weighted[] = [
  ...[completeness, consistency, rigor, evidence, actionability, traceability],
];

/** Scores an artifact against the gate. By rules it scores what can be counted, and says how much of the rubric that was. */
export const llmAsJudge: Mode = {
  name: 'llm-as-judge',
  dimensions: judgeDimensions,
  sections: [
    'Quality Score',
    'Dimension Breakdown',
    'Pass/Fail',
    'Strengths',
    'Improvement Areas',
    'Anti-Leniency Check',
  ],
  text: 'critic-llm-as-judge',

  async examine(input): Promise<Examined> {
    const { read, checked, unable } = await lookAt(input);
    const before = unscored(input.before);
    const criteria = readCriteria(input.criteria ?? '');
    const { path } = input.artifact;
    const judged = await applyRules(criteria.rules, { path, read, signal: input.signal });
    const unread = judged.filter(({ verdict }) => verdict === 'unjudged');
    const met = rulesLookedAt(judged, 'completeness', 'criteria that are met');
    const claims = await knownClaims('llm-as-judge', input);
    const dimensions = [
      sharedScore(
        completeness,
        [met, ...ofAspects(checked, 'completeness')],
        'nothing states what it has to contain: fewer than 3 criteria, and sections that it refers to',
      ),
      sharedScore(
        consistency,
        ofAspects(checked, 'consistency', 'accuracy'),
        'fewer than 3 links, totals, steps and blocks of data in it can be checked',
      ),
      unjudged(rigor, 'only a reader or a model can judge a method'),
      sharedScore(
        evidence,
        [claims.checked],
        'fewer than 3 names in the code and claims about it can be looked up',
      ),
      sharedScore(
        actionability,
        ofAspects(checked, 'actionability', 'clarity'),
        'only a reader or a model can judge what can be done with it',
      ),
      sharedScore(
        traceability,
        ofAspects(checked, 'traceability'),
        'fewer than 3 links to files and ids in it can be followed',
      ),
    ];
    const faults = [...faultsOf(checked), ...met.faults];
    const examined = examinedOf({
      findings: sorted([
        ...claims.findings,
        ...(await findingsOf('llm-as-judge', faults, input, read.isCode, knownBy(before))),
      ]),
      score: scoreOf(dimensions),
      unable: [
        ...unable,
        ...dimensions
          .filter(({ score }) => score === null)
          .map(({ name, why }) => `to judge ${name}: ${why}`),
        ...(unread.length > 0 ? [`to judge ${unread.length} criteria in words`] : []),
        ...(criteria.left > 0 ? [`to read ${criteria.left} more criteria`] : []),
      ],
    });
    return { ...examined, abort: claims.abort, sections: scoreSections(examined, input) };
  },

  retold: scoreSections,
};

function scoreSections(examined: Examined, { before }: ModeInput): Section[] {
  return sectionsOf({
    'Quality Score': qualityScore(examined),
    'Dimension Breakdown': breakdown(examined),
    'Pass/Fail': passOrFail(examined, before),
    Strengths: strengths(examined),
    'Improvement Areas': areas(examined, qualityGate.threshold),
    'Anti-Leniency Check': antiLeniency(examined),
  });
}

/** By the gate's own threshold; a request may set another one, and that decides. */
function passOrFail({ score, findings }: Examined, before: ModeInput['before']): string {
  if (score?.score == null) return 'Neither: there is no score.';
  const open = [...before.flatMap((each) => each.findings), ...findings].filter(
    ({ severity }) => severity === 'critical',
  );
  const low = score.dimensions.filter(
    (each) => each.score !== null && atLeast(dimensionCritical, each.score),
  );
  const isPass =
    atLeast(score.score, qualityGate.threshold) && open.length === 0 && low.length === 0;
  const why = [
    `the threshold is ${qualityGate.threshold}`,
    ...(open.length > 0 ? [`${open.length} critical findings are open`] : []),
    ...low.map(({ name }) => `${name} is at or below ${dimensionCritical}`),
  ];
  return `${isPass ? 'PASS' : 'REVISE'}: ${why.join('; ')}.`;
}

function antiLeniency({ score }: Examined): string {
  const dimensions = score?.dimensions ?? [];
  const high = dimensions.filter((each) => (each.score ?? 0) > highScore);
  return listed(
    [
      'The score was added up from the dimensions, without rounding.',
      'Earlier scores were not known.',
      'A dimension of which too little was seen is not judged.',
      high.length === 0
        ? `No dimension is above ${highScore}.`
        : `Above ${highScore} by what was counted, or by ${evidenceMin} quotes: ${high.map(({ name }) => name).join(', ')}.`,
    ],
    '',
  );
}

/** Above it a dimension has to show so many things (leniency checklist of the S-014 template). */
export const highScore = 0.9;
export const evidenceMin = 3;
