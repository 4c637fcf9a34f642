import { assertEvent, assign, setup } from 'xstate';

/** Limit of successive answers with invalid calls only. */
export const invalidAnswersMax = 3;

export interface AgentInput {
  /** Commands before the content, and behind it. */
  commands: number;
  teardown: number;
  hasContent: boolean;
}

export type AgentEvent =
  /** Whether there is a language model: what an agent began without, it ends without. */
  | { type: 'begun'; hasModel: boolean }
  | { type: 'command.done' }
  | { type: 'command.refused'; code: string }
  /** `isLast`: no tokens are left, so that its calls are not run. */
  | { type: 'model.answered'; calls: number; isLast: boolean }
  | { type: 'model.delayed'; pauseMs: number }
  | { type: 'model.failed'; code: string }
  | { type: 'pause.over' }
  /** `isInvalid`: the call of the model was invalid and was not run. */
  | { type: 'call.done'; isInvalid: boolean }
  /** Without a model: a result or a message came; none can come any more. */
  | { type: 'result.came' }
  | { type: 'results.over' }
  | { type: 'index.answered' }
  | { type: 'index.failed'; code: string };

export type AgentEffect =
  | { type: 'begin' }
  | { type: 'command.do'; place: number }
  /** `tries`: that failed before it, of this answer. */
  | { type: 'model.ask'; tries: number }
  | { type: 'pause'; ms: number }
  | { type: 'call.do'; at: number }
  | { type: 'result.await' }
  | { type: 'index.ask' }
  | { type: 'teardown.do'; place: number }
  | { type: 'end'; isWell: boolean; code: string };

export interface AgentContext extends AgentInput {
  hasModel: boolean;
  /** Of the command that is due. */
  place: number;
  calls: number;
  /** Of the call that is due. */
  at: number;
  /** No call of this answer could be run so far. */
  isAllInvalid: boolean;
  /** Answers in a row. */
  invalidAnswers: number;
  tries: number;
  pauseMs: number;
  code: string;
}

const agent = setup({
  types: {
    context: {} as AgentContext,
    input: {} as AgentInput,
    events: {} as AgentEvent,
    emitted: {} as AgentEffect,
  },
  guards: {
    hasCommand: ({ context }) => context.place < context.commands,
    hasNextCommand: ({ context }) => context.place + 1 < context.commands,
    hasNextTeardown: ({ context }) => context.place + 1 < context.teardown,
    isEmpty: ({ context }) => !context.hasContent,
    isForModel: ({ context }) => context.hasModel && context.hasContent,
    hasTeardown: ({ context }) => context.teardown > 0,
    wantsCalls: ({ event }) => {
      assertEvent(event, 'model.answered');
      return event.calls > 0 && !event.isLast;
    },
    hasNextCall: ({ context }) => context.at + 1 < context.calls,
    isHopeless: ({ context, event }) => {
      assertEvent(event, 'call.done');
      const isAll = context.isAllInvalid && event.isInvalid;
      return isAll && context.invalidAnswers + 1 >= invalidAnswersMax;
    },
  },
  actions: {
    begin: assign({
      hasModel: ({ event }) => {
        assertEvent(event, 'begun');
        return event.hasModel;
      },
    }),
    firstPlace: assign({ place: 0 }),
    nextPlace: assign({ place: ({ context }) => context.place + 1 }),
    openCalls: assign(({ event }) => {
      assertEvent(event, 'model.answered');
      return { calls: event.calls, at: 0, isAllInvalid: true, tries: 0 };
    }),
    nextCall: assign(({ context, event }) => {
      assertEvent(event, 'call.done');
      return { at: context.at + 1, isAllInvalid: context.isAllInvalid && event.isInvalid };
    }),
    closeCalls: assign(({ context, event }) => {
      assertEvent(event, 'call.done');
      const isAll = context.isAllInvalid && event.isInvalid;
      return { calls: 0, at: 0, invalidAnswers: isAll ? context.invalidAnswers + 1 : 0 };
    }),
    delay: assign(({ context, event }) => {
      assertEvent(event, 'model.delayed');
      return { tries: context.tries + 1, pauseMs: event.pauseMs };
    }),
    remember: assign({
      code: ({ event }) => {
        assertEvent(event, ['command.refused', 'model.failed', 'index.failed']);
        return event.code;
      },
    }),
    giveUp: assign({ code: 'MODEL_CALL_INVALID' }),
  },
});

const begin = agent.emit({ type: 'begin' });
const doCommand = agent.emit(({ context }) => ({ type: 'command.do', place: context.place }));
const askModel = agent.emit(({ context }) => ({ type: 'model.ask', tries: context.tries }));
const pause = agent.emit(({ context }) => ({ type: 'pause', ms: context.pauseMs }));
const doCall = agent.emit(({ context }) => ({ type: 'call.do', at: context.at }));
const awaitResult = agent.emit({ type: 'result.await' });
const askIndex = agent.emit({ type: 'index.ask' });
const doTeardown = agent.emit(({ context }) => ({ type: 'teardown.do', place: context.place }));
const end = (isWell: boolean) =>
  agent.emit(({ context }) => ({ type: 'end', isWell, code: context.code }));

/**
 * One prompt, from its first command to its last. Every event except `pause.over` is on disk before the machine gets it: the stored entries bring a new machine to the same state.
 */
export const agentMachine = agent.createMachine({
  id: 'prompt.agent',
  context: ({ input }) => ({
    ...input,
    ...{ hasModel: false, place: 0, calls: 0, at: 0, isAllInvalid: true, invalidAnswers: 0 },
    ...{ tries: 0, pauseMs: 0, code: '' },
  }),
  initial: 'beginning',
  states: {
    beginning: {
      entry: begin,
      on: {
        begun: [
          { guard: 'hasCommand', target: 'setup', actions: 'begin' },
          { target: 'content', actions: 'begin' },
        ],
      },
    },
    setup: {
      entry: doCommand,
      on: {
        'command.done': [
          { guard: 'hasNextCommand', target: 'setup', reenter: true, actions: 'nextPlace' },
          { target: 'content' },
        ],
        'command.refused': { target: 'failed', actions: 'remember' },
      },
    },
    content: {
      always: [{ guard: 'isForModel', target: 'asking' }, { target: 'gathering' }],
    },
    /** Where no model decides when it is over, the tasks that it started are waited for. */
    gathering: {
      entry: awaitResult,
      on: {
        'result.came': { target: 'gathering', reenter: true },
        'results.over': [{ guard: 'isEmpty', target: 'ending' }, { target: 'looking' }],
      },
    },
    asking: {
      entry: askModel,
      on: {
        'model.answered': [
          { guard: 'wantsCalls', target: 'calling', actions: 'openCalls' },
          { target: 'ending' },
        ],
        'model.delayed': { target: 'waiting', actions: 'delay' },
        'model.failed': { target: 'failed', actions: 'remember' },
      },
    },
    waiting: { entry: pause, on: { 'pause.over': 'asking' } },
    calling: {
      entry: doCall,
      on: {
        'call.done': [
          { guard: 'hasNextCall', target: 'calling', reenter: true, actions: 'nextCall' },
          { guard: 'isHopeless', target: 'failed', actions: 'giveUp' },
          { target: 'asking', actions: 'closeCalls' },
        ],
      },
    },
    /** Without a model: the index is asked. */
    looking: {
      entry: askIndex,
      on: {
        'index.answered': 'ending',
        'index.failed': { target: 'failed', actions: 'remember' },
      },
    },
    ending: {
      always: [
        { guard: 'hasTeardown', target: 'teardown', actions: 'firstPlace' },
        { target: 'finished' },
      ],
    },
    teardown: {
      entry: doTeardown,
      on: {
        'command.done': [
          { guard: 'hasNextTeardown', target: 'teardown', reenter: true, actions: 'nextPlace' },
          { target: 'finished' },
        ],
        'command.refused': { target: 'failed', actions: 'remember' },
      },
    },
    finished: { entry: end(true), type: 'final' },
    failed: { entry: end(false), type: 'final' },
  },
});
