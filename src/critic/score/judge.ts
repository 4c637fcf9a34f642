import { advisoryIn, type Judge } from '../review/critique-of.js';
import { qualityGate } from '../shapes.js';
import { verdictOf } from './verdict.js';

/** What a review comes to, by the gate that was asked for. A selection without a mode is for a person. */
export const judge: Judge = (request, selection, reports) => {
  const { standardThreshold, threshold: adversarial, iterationsMax } = qualityGate;
  const gate = request.is_adversarial ? adversarial : standardThreshold;
  const threshold = request.threshold ?? gate;
  const most = request.iterations_max ?? iterationsMax;
  const { iteration } = request;
  const ruling = verdictOf(reports, threshold, iteration, most, advisoryIn(selection));
  const { verdict, score, needsPerson: needs_person } = ruling;
  const why = reports.length === 0 && selection.error !== '' ? selection.error : ruling.why;
  return { verdict, score, threshold, why, needs_person, flags: [] };
};
