/**
 * Key layout. Segments are joined by `/`; names never contain one. Integers are 16 hex digits, so that
 * byte order is number order and a key stays readable in a dump.
 *
 *     meta/layout                        which layout: bus, facts, manager, tasks, executor, critic
 *     meta/schema                        its version, decimal text
 *     meta/applied                       of a replica of a log: sequence and checksum of the last entry that is in it
 *     meta/move                          a broker may not serve it: `in`, it is being filled; `out` and where to, what it held was moved
 *     agent/<id>                         REGISTER frame: head, envelope with stored_ms and in `correlation` what the name is bound to, AgentRecord
 *     message/<seq>                      DELIVER frame of a durable message that is not settled
 *     state/<seq>                        MessageView: what changed since: attempts, due, expiry, reason
 *     dead/<seq>                         MessageView: since when and why it is a dead letter
 *     seen/<sender>/<seq>                Unix ms, space, message id, tab, mailbox: settled, within the dedupe window
 *     meta/seq                           no seq at or above this was ever given out
 *     query/<digest>/<step>              JSON: of a query under way, step 0 what it is over, then one a step
 *     task/<id>                          JSON: the record of a task
 *     told/gates                         JSON: ids of the gates of which a person was told outside of the bus
 *     numbers/tasks                      JSON: sums over the tasks that were finished
 *     deed/<task id>/<n>                 JSON: what is still to be done for it, in order
 *     queue/<agent>                      JSON: how the tasks that it pushed are started, and the starts that it asked for
 *     todo/<list>/<id>                   JSON: one entry of the list that an agent keeps
 *     attend/<context>                   JSON: a session of attention, the last one of its context
 *     errand/<context>/<n>               JSON: what is still to be done for it, in order
 *     approval/<session>/<digest>        JSON: what a person approved for a session
 *     work/<task id>/<attempt>           JSON: one assignment in the hands of an executor
 *     history/<task id>/<attempt>/<n>    JSON: one entry of the conversation of an agent, in order
 *     trend/<digest>                     JSON: how one artifact fared from critique to critique; the digest is that of its tree and path
 *     review/<id>                        JSON: a review, under way or over: what it is of, and where its pipeline stands
 *     reviewed/<id>                      JSON: what it was asked, until its end is reported
 *     closing/<id>/<n>                   JSON: what is still to be done at its end, in order
 *     report/<id>/<n>                    JSON: what its nth mode said, while it is under way
 *     critique/<id>                      JSON: what became of it
 *     facts/<miner version>/<language>/<blob>   FileFacts; with a digest behind, where a tree has rules of its own
 */
export const metaPrefix = 'meta/';
export const layoutKey = 'meta/layout';
export const schemaKey = 'meta/schema';
export const appliedKey = 'meta/applied';
export const moveKey = 'meta/move';

export const agentPrefix = 'agent/';
export const agentKey = (id: string): string => `${agentPrefix}${id}`;

export const nextSeqKey = 'meta/seq';
export const messagePrefix = 'message/';
export const messageKey = (seq: number): string => messagePrefix + hex64(seq);
export const statePrefix = 'state/';
export const stateKey = (seq: number): string => statePrefix + hex64(seq);
export const deadPrefix = 'dead/';
export const deadKey = (seq: number): string => deadPrefix + hex64(seq);
export const seenPrefix = 'seen/';
export const seenKey = (sender: string, seq: number): string =>
  `${seenPrefix}${sender}/${hex64(seq)}`;
/** The seq that ends a key. */
export const seqOfKey = (key: string): number =>
  Number.parseInt(key.slice(key.lastIndexOf('/') + 1), 16);

export const queryPrefix = 'query/';
export const queryKey = (id: string, step: number): string => `${queryPrefix}${id}/${hex64(step)}`;

export const taskPrefix = 'task/';
export const taskKey = (id: string): string => `${taskPrefix}${id}`;
export const taskNumbersKey = 'numbers/tasks';
export const deedPrefix = 'deed/';

export const queuePrefix = 'queue/';
export const queueKey = (agent: string): string => queuePrefix + agent;

export const todoPrefix = 'todo/';
export const todoListPrefix = (list: string): string => `${todoPrefix}${list}/`;
export const todoKey = (list: string, id: string): string => todoListPrefix(list) + id;

export const attendPrefix = 'attend/';
export const attendKey = (context: string): string => attendPrefix + context;
export const errandPrefix = 'errand/';

export const gatesToldKey = 'told/gates';
export const approvalPrefix = 'approval/';
export const approvalSessionPrefix = (session: string): string => `${approvalPrefix}${session}/`;
export const approvalKey = (session: string, digest: string): string =>
  approvalSessionPrefix(session) + digest;

export const workPrefix = 'work/';
export const workKey = (task: string, attempt: number): string =>
  `${workPrefix}${task}/${hex64(attempt)}`;

export const historyPrefix = 'history/';
export const historyOfPrefix = (task: string, attempt: number): string =>
  `${historyPrefix}${task}/${hex64(attempt)}/`;

export const trendPrefix = 'trend/';
export const trendKey = (digest: string): string => trendPrefix + digest;
export const reviewPrefix = 'review/';
export const reviewKey = (id: string): string => reviewPrefix + id;
export const closingPrefix = 'closing/';
export const reviewedKey = (id: string): string => `reviewed/${id}`;
export const reportPrefix = (review: string): string => `report/${review}/`;
export const reportKey = (review: string, n: number): string => reportPrefix(review) + hex64(n);
export const critiqueKey = (id: string): string => `critique/${id}`;

export const factsPrefix = 'facts/';
export const factsKey = (miner: number, language: string, blob: string): string =>
  `${factsPrefix}${hex64(miner)}/${language}/${blob}`;

export function hex64(value: number): string {
  return value.toString(16).padStart(16, '0');
}

/** The least key behind all keys with this prefix. */
export function prefixEnd(prefix: string): string {
  return `${prefix}\uffff`;
}
