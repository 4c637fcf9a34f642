import path from 'node:path';
import { systemClock } from '../../base/clock.js';
import { newId } from '../../base/ids.js';
import type { Config } from '../../config/config.js';
import { History, isIteration } from '../cycle/history.js';
import { judge } from '../score/judge.js';
import type { Mode, ModeInput } from '../mode.js';
import type { ExaminedBy } from '../review/report.js';
import { brokenIn, withBroken } from '../review/hard-rules.js';
import { Reviews, type ReviewsParts } from '../review/reviews.js';
import { selectFor } from '../select/select.js';
import { detectedBudget } from '../select/tables.js';
import { BusError } from '../../errors/bus-error.js';
import { Budget } from '../../model/budget.js';
import type { Chat } from '../../model/chat.js';
import { criticLayout } from '../../store/layouts.js';
import { LevelStore } from '../../store/level-store.js';
import type { Store } from '../../store/port.js';
import { escalationOf } from '../select/escalation-file.js';

/** Reviews and the history of what they were of, in one store. */
export interface Critic {
  reviews: Reviews;
  history: History;
}

export function storeOf({ home }: Pick<Config, 'home'>): string {
  return path.join(home, 'critic', 'store');
}

/** Throws STORE_LOCKED, STORE_SCHEMA, STORE_UNAVAILABLE. */
export function openStore(config: Config): Promise<LevelStore> {
  const options = { layout: criticLayout, clock: systemClock, random: Math.random };
  return LevelStore.open(storeOf(config), options);
}

/** Throws CRITIC_POLICY_INVALID, STORE_UNAVAILABLE. */
export async function openCritic(
  config: Config,
  store: Store,
  {
    env,
    ground,
    onTrouble,
    onProgress,
  }: Pick<ReviewsParts, 'ground' | 'onTrouble' | 'onProgress'> & { env: NodeJS.ProcessEnv },
): Promise<Critic> {
  const policy = escalationOf(config);
  const history = await History.open({ store, clock: systemClock, onTrouble });
  const { concurrency, waiting, finished, threshold, iterationsMax } = config.critic ?? {};
  const examine = engineOf(config, env);
  const reviews = await Reviews.open({
    ...{ store, clock: systemClock, random: Math.random, ground, onTrouble },
    ...(onProgress !== undefined && { onProgress }),
    select: (request) => {
      const { token_budget: given = '' } = request.context;
      const token_budget = given === '' ? detectedBudget(config) : given;
      const context = { ...request.context, token_budget };
      return selectFor({ ...request, context }, policy);
    },
    judge: (request, selection, reports) =>
      judge(withDefaults(request, { threshold, iterationsMax }), selection, reports),
    examine: async (name, input, { tokensMax, spent, request }) => {
      // Read with the first review.
      const { modes } = await import('../modes.js');
      const mode = modes.get(name);
      if (mode === undefined) throw new BusError('MODE_UNAVAILABLE', { mode: name });
      const { criteria } = request;
      const its = { ...input, ...(criteria !== '' && { criteria }) };
      const broken = brokenIn(input.artifact, name);
      // No model is shown an artifact that holds a secret.
      const engine = broken.length === 0 ? examine : byRules;
      return withBroken(await engine(mode, its, tokensMax, spent), broken);
    },
    counted: (request) => history.counted(withDefaults(request, { threshold, iterationsMax })),
    trend: async (critique, request) =>
      isIteration(critique)
        ? history.flagsOf(critique, withDefaults(request, { threshold, iterationsMax }))
        : [],
    standing: async (critique, request) =>
      isIteration(critique)
        ? history.standingAfter(critique, withDefaults(request, { threshold, iterationsMax }))
        : { state: '', text: '' },
    onEnded: async (critique, request) => {
      if (isIteration(critique))
        await history.add(critique, withDefaults(request, { threshold, iterationsMax }));
    },
    limits: {
      ...(concurrency !== undefined && { atOnce: concurrency }),
      ...(waiting !== undefined && { waiting }),
      ...(finished !== undefined && { finished }),
    },
  });
  return { reviews, history };
}

type Engine = (
  mode: Mode,
  input: ModeInput,
  tokensMax: number,
  spent: number,
) => Promise<ExaminedBy>;

/** By rules alone, or with the configured model, which is loaded with the first mode. */
function engineOf({ model }: Config, env: NodeJS.ProcessEnv): Engine {
  if (model === undefined) return byRules;
  let loaded: Promise<Chat> | undefined;
  const connect = async (): Promise<Chat> =>
    new (await import('../../model/chat.js')).Chat(model, { env });
  return async (mode, input, tokensMax, spent) => {
    const { examineByModel } = await import('../model/model-engine.js');
    const budget = new Budget(tokensMax, spent);
    const chat = await (loaded ??= connect());
    return examineByModel(mode, input, chat, { budget, newMark: () => newId('data') });
  };
}

const byRules: Engine = async (mode, input) => {
  const found = await mode.examine(input);
  return { ...found, engine: 'rules', reason: found.gap ?? '', texts: [], tokens: 0 };
};

/** The settings fill what the caller leaves open. */
function withDefaults<T extends { threshold?: number; iterations_max?: number }>(
  request: T,
  {
    threshold,
    iterationsMax,
  }: { threshold?: number | undefined; iterationsMax?: number | undefined },
): T {
  return {
    ...request,
    ...(request.threshold === undefined && threshold !== undefined && { threshold }),
    ...(request.iterations_max === undefined &&
      iterationsMax !== undefined && { iterations_max: iterationsMax }),
  };
}
