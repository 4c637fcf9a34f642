import { lookAt } from '../checks/all.js';
import { sorted } from '../finding.js';
import { knownClaims } from '../review/known-claims.js';
import type { Examined, Mode, Weighted } from '../mode.js';
import { applyRules } from '../rules/apply-rules.js';
import { readCriteria } from '../rules/read-criteria.js';
import { readRules } from '../rules/read-rules.js';
import { ofAspects, rulesLookedAt, scoreOf, sharedScore } from '../score/scoring.js';
import { qualityGate, type Section } from '../shapes.js';
import { examinedOf, faultsOf, findingsOf, sectionsOf } from './looked.js';
import { areas, breakdown, qualityScore } from './score-sections.js';

const completeness: Weighted = { name: 'Completeness', weight: 0.25 };
const accuracy: Weighted = { name: 'Accuracy', weight: 0.25 };
const clarity: Weighted = { name: 'Clarity', weight: 0.2 };
const actionability: Weighted = { name: 'Actionability', weight: 0.15 };
const alignment: Weighted = { name: 'Alignment', weight: 0.15 };

/** Of the plain review, as ps-critic had it before there were adversarial modes (2.2.0). */
export const standardDimensions: readonly Weighted[] = [
  ...[completeness, accuracy, clarity, actionability, alignment],
];

/** The plain review: what is complete, right, clear, usable and as it was asked for. */
export const standard: Mode = {
  name: 'standard',
  dimensions: standardDimensions,
  sections: ['Quality Score', 'Criteria Breakdown', 'Improvement Areas'],
  text: 'critic-standard',

  async examine(input): Promise<Examined> {
    const { read, checked, unable } = await lookAt(input);
    const { rules, unread } = readRules(input.rules);
    const criteria = readCriteria(input.criteria ?? '');
    const { path } = input.artifact;
    const judged = await applyRules([...criteria.rules, ...rules], {
      path,
      read,
      signal: input.signal,
    });
    const met = rulesLookedAt(judged, 'completeness', 'criteria and rules that are met');
    const open = judged.filter(({ verdict }) => verdict === 'unjudged').length;
    const claims = await knownClaims('standard', input);
    const dimensions = [
      sharedScore(
        completeness,
        ofAspects(checked, 'completeness'),
        'nothing states what it has to contain: fewer than 3 criteria, and sections that it refers to',
      ),
      sharedScore(
        accuracy,
        [claims.checked, ...ofAspects(checked, 'accuracy', 'traceability')],
        'fewer than 3 links, ids, blocks of data and claims about code in it can be looked up',
      ),
      sharedScore(
        clarity,
        ofAspects(checked, 'clarity', 'consistency'),
        'fewer than 3 links, totals and steps in it can be held against each other',
      ),
      sharedScore(
        actionability,
        ofAspects(checked, 'actionability'),
        'only a reader or a model can judge what can be done with it',
      ),
      sharedScore(
        alignment,
        [met],
        'fewer than 3 criteria and rules that a program can check were given',
      ),
    ];
    const examined = examinedOf({
      findings: sorted([
        ...claims.findings,
        ...(await findingsOf(
          'standard',
          [...faultsOf(checked), ...met.faults],
          input,
          read.isCode,
        )),
      ]),
      score: scoreOf(dimensions),
      unable: [
        ...unable,
        ...dimensions
          .filter(({ score }) => score === null)
          .map(({ name, why }) => `to judge ${name}: ${why}`),
        ...(open > 0 ? [`to judge ${open} criteria and rules in words`] : []),
        ...unread.map((each) => `to read a rule: ${each}`),
      ],
    });
    return { ...examined, abort: claims.abort, sections: scoreSections(examined) };
  },

  retold: scoreSections,
};

function scoreSections(examined: Examined): Section[] {
  return sectionsOf({
    'Quality Score': qualityScore(examined),
    'Criteria Breakdown': breakdown(examined),
    'Improvement Areas': areas(examined, qualityGate.standardThreshold),
  });
}
