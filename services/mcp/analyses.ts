import type { AskingOptions } from '../../src/lattice/questions.js';
import type { BlastRadius, Direction } from '../../src/pgc/analysis/blast-radius.js';
import type { SecurityBlastRadius } from '../../src/pgc/analysis/security-blast-radius.js';
import type { LocateAnswer } from '../../src/pgc/locate/locate.js';
import { latticeService } from '../../src/pgc/messages.js';
import type { RemoteQuestions } from '../cli/connect.js';
import type { Bus } from './bus.js';

/** Questions that a manager may be too old to answer. */
export interface Analyses {
  locate(request: { text: string; limit: number }, options: AskingOptions): Promise<LocateAnswer>;
  blastRadius(
    request: { symbol: string; max_depth: number; direction: Direction },
    options: AskingOptions,
  ): Promise<BlastRadius>;
  securityBlastRadius(
    request: { symbol: string },
    options: AskingOptions,
  ): Promise<SecurityBlastRadius>;
}

const types: Readonly<Record<keyof Analyses, string>> = {
  locate: 'lattice.locate',
  blastRadius: 'lattice.blast-radius',
  securityBlastRadius: 'lattice.security-blast-radius',
};

/** Where nobody answers such a question, it fails with what the bus says to it: UNKNOWN_TYPE, NO_RESPONDER. */
export async function analyses(bus: Bus): Promise<Analyses> {
  const client = await bus.client();
  const questions = (await bus.questions()) as RemoteQuestions & Partial<Analyses>;
  const unserved =
    (name: keyof Analyses) =>
    async (_request: object, options: AskingOptions): Promise<never> => {
      await client.request(`service:${latticeService}`, types[name], Buffer.alloc(0), options);
      throw new Error(`${types[name]} was answered, but this version cannot read the answer`);
    };
  return {
    locate: questions.locate?.bind(questions) ?? unserved('locate'),
    blastRadius: questions.blastRadius?.bind(questions) ?? unserved('blastRadius'),
    securityBlastRadius:
      questions.securityBlastRadius?.bind(questions) ?? unserved('securityBlastRadius'),
  };
}
