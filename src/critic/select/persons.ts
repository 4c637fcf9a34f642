import { atLeast } from '../score/decimals.js';
import { qualityGate, type Flag } from '../shapes.js';
import type { Course } from './course.js';
import type { SelectInput } from './input.js';
import { contextRotTokens } from './tables.js';

/** In the words of the document. */
export const notPermitted =
  'C4 review NOT PERMITTED for TEAM-SINGLE. Escalate to TEAM-MULTI + TEAM-HIL.';

/** Iterations after which refining has failed. */
const iterationsMost = 5;

/** When a person has to look at it, or should: ESC-001 to ESC-007, AE-006, ENF-MIN-002, and a session that forgets. */
export function personFlags(course: Course, input: SelectInput): Flag[] {
  return [...mandatory(course, input), ...recommended(course, input)];
}

function mandatory({ criticality, context }: Course, input: SelectInput): Flag[] {
  const isHigh = criticality === 'C3' || criticality === 'C4';
  const isExhausted = context.token_budget === 'TOK-EXHAUST' && isHigh;
  const isGovernance = input.standing.escalated.some((each) => each.isGovernance);
  const { iteration, previous_score = 1, threshold = qualityGate.threshold } = input;
  const rules: [boolean, string, string][] = [
    [criticality === 'C4', 'ESC-001', 'a person reviews and ratifies the findings of a C4 review'],
    [
      isExhausted,
      'ESC-002',
      `a person reviews it: what agents find at ${criticality} without tokens is poor`,
    ],
    [
      iteration > iterationsMost && !atLeast(previous_score, threshold),
      'ESC-003',
      `a person reviews it: the gate is not met after ${iterationsMost} iterations`,
    ],
    [
      criticality === 'C4' && isGovernance,
      'ESC-004',
      'a person ratifies the change of governance explicitly',
    ],
    [isExhausted, 'AE-006', `the tokens are used up at ${criticality}: a person decides`],
    [
      context.enforcement === 'ENF-MIN' && isHigh,
      'ENF-MIN-002',
      `nothing enforces the rules at ${criticality}: a person decides`,
    ],
  ];
  return flagsOf('mandatory', rules);
}

function recommended({ criticality, context }: Course, input: SelectInput): Flag[] {
  const isHigh = criticality === 'C3' || criticality === 'C4';
  const isLong = (input.session_tokens ?? 0) > contextRotTokens;
  const isAlone = context.team === 'TEAM-SINGLE';
  return [
    ...flagsOf('recommended', [
      [criticality === 'C3', 'ESC-005', 'a person should take part in a C3 review'],
      [isLong && isHigh, 'ESC-006', 'end this session and begin another for a review like this'],
      [isAlone && isHigh, 'ESC-007', 'one agent alone is not enough: TEAM-MULTI or TEAM-HIL'],
    ]),
    ...flagsOf('warning', [[isLong, 'CONTEXT_ROT', contextRot]]),
  ];
}

const contextRot =
  'the session is longer than 20,000 tokens: rules that stood at its beginning (L1) count less and less, by half at 50,000. What is enforced otherwise (L2, L3, L5, process) still holds';

function flagsOf(level: Flag['level'], rules: readonly [boolean, string, string][]): Flag[] {
  return rules.filter(([holds]) => holds).map(([, code, text]) => ({ code, level, text }));
}
