import type { ModeName } from '../strategies.js';
import { ended } from './automatic.js';
import type { Course } from './course.js';
import type { SelectInput } from './input.js';
import { brokenRules, inSequence } from './sequence.js';
import { substitutes } from './tables.js';

/** Without a context, as reviews were before there was one. Says that its path asks for more, where it does. */
export function plainReview(course: Course, { standing, modes }: SelectInput): void {
  const text = modes.length === 0 ? 'No context is given: the plain review.' : 'Named: standard.';
  course.step('explicit', text, ['standard']);
  const [first] = standing.escalated;
  if (first === undefined) return;
  const wanted = `${first.rule} asks for a review at ${course.criticality}, which this one is not: --mode auto`;
  course.flag('recommended', 'STANDARD', wanted);
}

/**
 * The modes that were named, in the order of the rules. Tables of budgets, maturities and teams leave nothing out of it; what of it
 * is of no use here is said.
 */
export function namedModes(course: Course, { modes, strict_order }: SelectInput): void {
  const its = [...new Set(modes)].filter((mode) => mode !== 'standard');
  course.step('explicit', `Named: ${its.join(', ')}.`, its);
  if (its.length < modes.length)
    course.flag('note', 'MODES', 'one mode is applied once, and standard not beside others');
  if (ended(course)) return;
  advise(course, its);
  const broken = brokenRules(its);
  const [first] = broken;
  if (first === undefined) return;
  const rules = broken.map(({ rule, first: one, then }) => `${rule} (${one} before ${then})`);
  if (strict_order) {
    course.refuse('MODE_ORDER', `the order of the modes breaks ${rules.join(', ')}`);
    return;
  }
  const order = inSequence(its).join(', ');
  course.flag('note', first.rule, `the order broke ${rules.join(', ')}; applied as ${order}`);
}

function advise(course: Course, its: readonly ModeName[]): void {
  const { criticality, context } = course;
  const { maturity, enforcement } = context;
  if (its.includes('devils-advocate') && !its.includes('steelman'))
    course.flag(
      'note',
      'STEELMAN',
      'devils-advocate argues best against the strongest form of a work: steelman is not named',
    );
  if (
    maturity === 'MAT-REVIEW' &&
    its.includes('red-team') &&
    (criticality === 'C1' || criticality === 'C2')
  )
    course.flag('warning', 'MAT-REVIEW', 'red-team costs more than it finds under review below C3');
  if (enforcement !== 'ENF-MIN') return;
  const weak = its.filter((mode) => mode !== 'standard' && substitutes[mode] !== undefined);
  if (weak.length > 0)
    course.flag('warning', 'ENF-MIN-004', `nothing delivers ${weak.join(', ')} as it is meant`);
}
