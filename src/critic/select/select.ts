import type { SelectInput } from './input.js';
import type { CritiqueRequest, Selection } from '../shapes.js';
import { strategies, type AdversarialMode, type ModeName } from '../strategies.js';
import { automaticModes } from './automatic.js';
import { Course } from './course.js';
import { above, atLeast, filled } from './dimensions.js';
import { standingOf, type EscalationPolicy } from './escalation.js';
import { namedModes, plainReview } from './explicit.js';
import { notPermitted, personFlags } from './persons.js';
import { inSequence, tensionFlags } from './sequence.js';
import { affinities, cautions, deliveries, phaseDowngrades } from './tables.js';

/** What of a request decides. */
export type Selecting = Omit<SelectInput, 'standing'> & Pick<CritiqueRequest, 'artifact'>;

/** The same for a request as it came. Pure: `policy` is read before. */
export function selectFor(request: Selecting, policy: EscalationPolicy): Selection {
  const standing = standingOf(policy, request.artifact, request.context);
  return select({ ...request, standing });
}

/**
 * Which modes review an artifact, in which order, and why: the decision tree of jerry's EN-303 TASK-004 with the rules of
 * sequence. Total and deterministic: it answers for any words, and where no mode is left the outcome says what is to be
 * done instead (`human_required` may also have modes: a person is needed besides). Nothing brings the criticality below what
 * a rule of its path asks (PR-001).
 */
export function select(input: SelectInput): Selection {
  const isAutomatic = input.modes.length === 0 && input.is_adversarial;
  const course = new Course(filled(input.context, input.standing.detected, isAutomatic));
  escalate(course, input, isAutomatic);
  if (course.criticality === 'C4' && course.context.team === 'TEAM-SINGLE') {
    course.refuse('REVIEW_NOT_PERMITTED', notPermitted);
    return course.answer();
  }
  downgrade(course, input);
  const names = input.modes.filter((mode) => mode !== 'standard');
  if (!isAutomatic && names.length === 0) {
    plainReview(course, input);
    return course.answer();
  }
  if (isAutomatic) automaticModes(course, input.is_revision);
  else namedModes(course, input);
  if (course.ends === 'refused') return course.answer();
  sequence(course, isAutomatic);
  describe(course);
  course.add(personFlags(course, input));
  return course.answer();
}

/** AE-001 to AE-005, and an unknown value of a dimension. */
function escalate(course: Course, { standing }: SelectInput, isAutomatic: boolean): void {
  const said = course.context.criticality;
  if (isAutomatic && course.novel.length > 0) {
    course.criticality = above(said);
    const text = `a new value of ${course.novel.join(', ')}: reviewed as ${course.criticality} instead of ${said}`;
    course.flag('warning', 'CONTEXT_NOVEL', text);
  }
  for (const { rule, least, reason } of standing.escalated) {
    const before = course.criticality;
    course.floor = atLeast(course.floor, least);
    course.criticality = atLeast(before, least);
    if (before === course.criticality)
      course.flag('note', rule, `not reviewed below ${least}, because ${reason}`);
    else
      course.flag(
        'warning',
        rule,
        `Auto-escalation: Criticality raised from ${before} to ${least} for this reason: ${reason}. The user may raise criticality further but not reduce below ${least} for this artifact type. See ${rule} rule.`,
      );
  }
  const rules = standing.escalated.map(({ rule }) => rule).join(', ');
  const by = rules === '' ? 'no rule of its path raises it' : `${rules} of its path holds`;
  course.step(
    'escalate',
    `It begins at ${said}; ${by}: ${course.criticality}, and never below ${course.floor}.`,
  );
}

/** By phase one level down, but never below the floor (PR-001). Which modes a phase leaves out is another step. */
function downgrade(course: Course, { is_revision }: SelectInput): void {
  const { criticality, floor } = course;
  const { phase } = course.context;
  const lower = phaseDowngrades[phase]?.[criticality];
  if (lower === undefined)
    return course.step('phase', `In ${phase} ${criticality} stays what it is.`);
  // Of what is maintained only a change of scope deserves everything.
  if (phase === 'PH-MAINT' && is_revision)
    return course.step('phase', `In ${phase} a formal revision stays ${criticality}.`);
  course.criticality = atLeast(lower, floor);
  if (course.criticality === lower)
    return course.step('phase', `In ${phase} ${criticality} is reviewed as ${lower}.`);
  const text = `${phase} would make it ${lower}, but it was raised to ${floor} and stays ${criticality}`;
  course.flag('note', 'PR-001', text);
  course.step('phase', `${text} (PR-001).`);
}

function sequence(course: Course, isAutomatic: boolean): void {
  const given = course.modes;
  if (given.length === 0) return;
  const order = inSequence(given, isAutomatic ? 'canonical' : 'given');
  const isSame = order.every((mode, at) => mode === given[at]);
  course.step('sequence', isSame ? 'Their order breaks no rule.' : 'Put in order.', order);
  course.add(tensionFlags(isAutomatic ? order : given, !isAutomatic));
}

/** How the modes are applied on the platform, and how much they find here. Changes nothing. */
function describe(course: Course): void {
  const { platform, enforcement, target_type, phase } = course.context;
  const its = course.modes.filter((mode): mode is AdversarialMode => mode !== 'standard');
  if (its.length === 0) return;
  const stack = enforcement === 'ENF-FULL' ? 'full' : 'portable';
  const ways = its.map((mode) => `${strategies[mode].id} by ${deliveries[mode][stack]}`);
  course.step('platform', `${platform}, ${enforcement}: ${ways.join('; ')}.`);
  const among = (modes: readonly ModeName[]): string =>
    its.filter((mode) => modes.includes(mode)).join(', ') || 'none';
  const { high, low } = affinities[target_type];
  course.step(
    'target',
    `${target_type}: most is found by ${among(high)}; least by ${among(low)}. Of less use in ${phase}: ${among(cautions[phase])}.`,
  );
}
