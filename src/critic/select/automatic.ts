import type { AdversarialMode, ModeName } from '../strategies.js';
import type { Course } from './course.js';
import {
  baseSets,
  budgetSets,
  leastEnforced,
  maturitySets,
  phaseSets,
  singleAgentModes,
  substitutes,
  tokensOf,
} from './tables.js';

/**
 * The modes that follow from the context. The budget comes last: it takes from what is wanted what can be paid. So what a
 * maturity, a team or an enforcement leaves is never emptied by a set that was cut for another purpose.
 */
export function automaticModes(course: Course, isRevision: boolean): void {
  base(course);
  phase(course);
  if (ended(course)) return;
  maturity(course, isRevision);
  team(course);
  enforcement(course);
  budget(course);
}

/** At C4 nothing replaces a session that can still read, and rules that are enforced. */
export function ended(course: Course): boolean {
  const { token_budget, enforcement: stack } = course.context;
  if (course.criticality !== 'C4') return false;
  const isExhausted = token_budget === 'TOK-EXHAUST';
  if (!isExhausted && stack !== 'ENF-MIN') return false;
  const why = isExhausted ? 'its tokens are used up' : 'nothing enforces its rules';
  course.ends = 'end_session';
  course.step(
    isExhausted ? 'budget' : 'enforcement',
    `C4 is not reviewed in a session of which ${why}.`,
    [],
  );
  course.flag(
    'mandatory',
    'END_SESSION',
    `end this session and begin another: ${why}. A person has to review it`,
  );
  return true;
}

function base(course: Course): void {
  const { required, recommended, optional } = baseSets[course.criticality];
  const wanted = phaseSets[course.criticality][course.context.phase] ?? [];
  const asked = optional.filter((mode) => wanted.includes(mode));
  const parts = [
    `${required.length} required`,
    ...(recommended.length > 0 ? [`${recommended.length} recommended`] : []),
    ...(asked.length > 0 ? [`${asked.length} that the phase asks for`] : []),
  ];
  const modes = [...required, ...recommended, ...asked];
  course.step('base', `${course.criticality}: ${parts.join(', ')}.`, modes);
}

function phase(course: Course): void {
  const { criticality, context } = course;
  const wanted = phaseSets[criticality][context.phase];
  if (wanted === undefined) {
    course.step('phase', `${context.phase} leaves nothing out at ${criticality}.`);
    if (criticality === 'C2' && context.phase === 'PH-DESIGN')
      course.flag('note', 'PHASE', 'in design inversion is worth considering too');
    return;
  }
  const text = `${context.phase} at ${criticality}: only ${wanted.join(', ')}.`;
  course.step('phase', text, kept(course.modes, wanted));
}

function maturity(course: Course, isRevision: boolean): void {
  const { criticality, context } = course;
  if (context.maturity === 'MAT-DRAFT') return;
  if (context.maturity === 'MAT-REVIEW') {
    // The table avoids it below C3, where no set has it.
    const modes =
      criticality === 'C3' || criticality === 'C4'
        ? course.modes
        : without(course.modes, ['red-team']);
    return course.step('maturity', 'Under review: no red-team below C3.', modes);
  }
  if (isRevision) return course.step('maturity', `${context.maturity}, but formally reopened.`);
  const wanted = maturitySets[context.maturity][criticality];
  const left = kept(course.modes, wanted);
  const isBaselined = context.maturity === 'MAT-BASE';
  course.step(
    'maturity',
    `${isBaselined ? 'Baselined' : 'Approved'} and not reopened: only ${wanted.join(', ')}.`,
    left.length > 0 ? left : wanted,
  );
  const who = isBaselined ? 'an amendment or a new version' : 'a formal request for change';
  course.flag('note', context.maturity, `what is found needs ${who}`);
}

function team(course: Course): void {
  const { criticality, context, modes } = course;
  if (context.team !== 'TEAM-SINGLE') return;
  if (criticality === 'C2' && modes.includes('devils-advocate')) {
    const text =
      'One agent is a weak advocate against itself: self-refine instead of devils-advocate.';
    course.step('team', text, replaced(modes, 'devils-advocate', 'self-refine'));
  } else if (criticality === 'C3') {
    const text = `One agent alone: only ${singleAgentModes.join(', ')}.`;
    course.step('team', text, kept(modes, singleAgentModes));
    emptied(course, 'one agent alone can apply none of the modes that are left');
  }
}

/** ENF-MIN-001, -003 and -004: what nothing delivers is replaced, and nothing gates by what is left. */
function enforcement(course: Course): void {
  const { criticality, context, modes } = course;
  if (context.enforcement !== 'ENF-MIN') return;
  course.flag(
    'note',
    'ENF-MIN-001',
    `${context.platform} counts as if it had rules at the beginning of a session alone`,
  );
  let left: readonly ModeName[] = modes;
  const told: string[] = [];
  for (const mode of modes) {
    const its = mode === 'standard' ? undefined : substitutes[mode];
    if (its === undefined) continue;
    const instead = its.mode ?? its.person ?? '';
    const works = its.isInfeasible ? 'cannot be enforced' : 'can hardly be enforced';
    told.push(`${mode} ${works}, ${instead} stands in for it`);
    left = its.mode === undefined ? without(left, [mode]) : replaced(left, mode, its.mode);
  }
  if (told.length > 0) course.flag('warning', 'ENF-MIN-004', told.join('; '));
  const allowed = kept(left, leastEnforced[criticality]);
  const text = 'Rules at the beginning of a session are all that enforces anything.';
  course.step('enforcement', text, allowed.length > 0 ? allowed : left);
  if (criticality === 'C2')
    course.flag('recommended', 'ENF-MIN', 'a person should look at what nothing enforces');
  emptied(course, 'nothing delivers any of the modes that are left');
}

function budget(course: Course): void {
  const { criticality, context, modes } = course;
  const { token_budget } = context;
  if (token_budget === 'TOK-FULL' || modes.length === 0) return;
  const affordable = budgetSets[token_budget][criticality];
  const most = sum(affordable);
  const fitting = kept(modes, affordable);
  const left = fitting.length > 0 ? fitting : cheapest(modes, most);
  course.isSinglePass = token_budget === 'TOK-CONST' && criticality === 'C4';
  const dropped = modes.filter((mode) => !left.includes(mode));
  course.step(
    'budget',
    dropped.length === 0
      ? `${token_budget}: all of them fit.`
      : `${token_budget} pays ${most} tokens at ${criticality}: without ${dropped.join(', ')}.`,
    left,
  );
  if (dropped.length > 0 && (criticality === 'C2' || criticality === 'C3'))
    course.flag('warning', token_budget, 'below the target: the score may not reach the gate');
  if (dropped.includes('steelman') && left.includes('devils-advocate'))
    course.flag('warning', 'STEELMAN', 'the budget forbids steelman before devils-advocate');
  emptied(course, 'the tokens that are left pay for none of the modes');
}

/** Never in silence. */
function emptied(course: Course, why: string): void {
  if (course.modes.length > 0 || course.ends !== undefined) return;
  course.ends = 'human_required';
  course.flag('mandatory', 'NO_MODES', `a person has to review it: ${why}`);
}

function cheapest(modes: readonly ModeName[], most: number): ModeName[] {
  const left: ModeName[] = [];
  for (const mode of [...modes].sort((a, b) => tokensOf(a) - tokensOf(b)))
    if (sum(left) + tokensOf(mode) <= most) left.push(mode);
  return left;
}

function sum(modes: readonly ModeName[]): number {
  return modes.reduce((tokens, mode) => tokens + tokensOf(mode), 0);
}

function kept(modes: readonly ModeName[], wanted: readonly ModeName[]): ModeName[] {
  return modes.filter((mode) => wanted.includes(mode));
}

function without(modes: readonly ModeName[], unwanted: readonly ModeName[]): ModeName[] {
  return modes.filter((mode) => !unwanted.includes(mode));
}

function replaced(modes: readonly ModeName[], mode: ModeName, by: AdversarialMode): ModeName[] {
  return [...new Set(modes.map((each) => (each === mode ? by : each)))];
}
