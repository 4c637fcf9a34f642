/**
 * Every error that leaves this program. The code is the interface; the text may improve.
 * `{name}` in a text is filled from the error's data, `{name|word}` else with that word. Retired codes are never used again.
 */
export interface ErrorEntry {
  text: string;
  /** What to do next, in the imperative. */
  next: string;
  /** The same request may succeed later. */
  retryable: boolean;
  /** Exit code: 1 the work failed · 2 wrong usage · 3 no broker, or no such agent · 130 interrupted. */
  exit: 1 | 2 | 3 | 130;
  /** Something here is broken or missing: no other request would fare better. */
  isFault?: true;
}

const entry =
  (exit: ErrorEntry['exit'], retryable: boolean) =>
  (text: string, next: string): ErrorEntry => ({ text, next, retryable, exit });

/** The work failed: for good, or for now. */
const failed = entry(1, false);
const fault = (text: string, next: string): ErrorEntry => ({
  ...failed(text, next),
  isFault: true,
});
const retry = entry(1, true);
const usage = entry(2, false);
/** No such agent; or it, or the broker, is not there now. */
const unknown = entry(3, false);
const offline = entry(3, true);
const stopped = entry(130, true);

const entries = {
  // --- use of the command line and configuration
  USAGE: usage('{detail}', 'Run `sigma --help`, or the command with --help.'),
  CONFIG_INVALID: usage(
    'the configuration is not valid: {detail}',
    'Correct the named setting and start again.',
  ),
  UNKNOWN_ERROR_CODE: usage(
    'there is no error code {code}',
    'Run `sigma error` without a code to list them all.',
  ),
  INTERRUPTED: stopped('interrupted', 'Run the command again; finished work is kept.'),
  INTERNAL: fault(
    'unexpected failure: {detail}',
    'Run again with SIGMA_LOG=debug and report the output.',
  ),
  CHILD_FAILED: fault(
    'the process {name} failed (exit code {code})',
    'Its own message stands above: correct what it names, then run the command again.',
  ),

  // --- attention
  ATTENTION_POLICY_INVALID: usage(
    'the attention policy {file} is not valid: {detail}',
    'Correct the named field. `sigma attend --classify --policy FILE` checks a policy without a broker.',
  ),
  ATTENTION_LINE_INVALID: usage(
    'line {line} is not an action: {detail}',
    'Write one JSON object per line, with `argv` (a list of words) or `command` (shell text).',
  ),

  // --- critic: what a review is asked for
  MODE_UNKNOWN: usage(
    "Unknown mode '{mode}'. Available modes: self-refine, steelman, inversion, constitutional, devils-advocate, pre-mortem, fmea, chain-of-verification, llm-as-judge, red-team",
    'Separate modes with commas, or omit --mode.',
  ),
  ARTIFACT_REQUIRED: usage(
    'Artifact path required',
    'Name the artifact: `sigma critic --artifact PATH`.',
  ),
  ARTIFACT_NOT_FOUND: usage("Artifact not found at '{path}'", 'Name a readable text file.'),
  MODE_ORDER: usage(
    '{detail}',
    'Name the modes in another order, or omit --strict-order to have them sorted.',
  ),
  REVIEW_NOT_PERMITTED: failed('{detail}', 'Run again with --explain to see why.'),
  CRITIC_POLICY_INVALID: usage(
    'the escalation rules in {file} are not valid: {detail}',
    'Correct the named field. `sigma critic --explain --policy FILE` checks the rules without a review.',
  ),
  CRITIC_CONTEXT_INVALID: usage(
    '{file}:{line}:{column}: {detail}',
    'Correct the named line. `sigma critic --context FILE --explain` checks the file without a review.',
  ),
  CRITIC_LINE_INVALID: usage(
    'line {line} is not a context vector: {detail}',
    'Write one JSON object per line: {"id":"1","criticality":"C2","phase":"PH-DESIGN",…}.',
  ),

  // --- keys
  KEYS_MISSING: usage(
    'keys are missing for {address}: {detail}',
    'Run `sigma keys init` and `sigma keys add AGENT --role ROLE --out FILE` at the broker, then name that file in SIGMA_IDENTITY at the client.',
  ),
  KEY_FILE_INVALID: usage(
    'the key file {path} cannot be used: {detail}',
    'Set its mode to 0600. If it is damaged, replace it: `sigma keys rotate`. If it is of another agent or role, name another file in SIGMA_IDENTITY.',
  ),
  IDENTITY_EXISTS: failed(
    'agent {agent} already has keys',
    'Replace them: `sigma keys rotate {agent} --out FILE`.',
  ),
  UNKNOWN_IDENTITY: failed(
    'agent {agent} has no keys',
    'Run `sigma keys list` to see the known agents, or `sigma keys add {agent}`.',
  ),
  IDENTITIES_FULL: failed(
    '{limit} agents already have keys',
    'Revoke keys that are not needed: `sigma keys revoke AGENT`.',
  ),
  CURVE_REFUSED: offline(
    'the broker at {address} does not know the key of this connection',
    'Ask the operator of the broker for a new identity: `sigma keys add` or `sigma keys rotate`.',
  ),
  CURVE_REQUIRED: offline(
    'what answers at {address} does not encrypt its connection (CURVE); nothing was sent',
    'Check the address: it must be that of a broker that has keys (`sigma keys init`).',
  ),
  HANDSHAKE_FAILED: offline(
    'no encrypted connection to {address} could be set up',
    'Check that the identity file belongs to this broker and that only clients connect there.',
  ),
  NATS_MISSING: fault(
    'the client of NATS is not installed',
    'Install Sigma Bus again with its optional packages (`npm install --include=optional`).',
  ),
  NATS_UNAVAILABLE: offline(
    'no NATS server answers at {address}: {detail}',
    'Start the servers, or check the address and the certificates.',
  ),
  NATS_REFUSED: offline(
    'the NATS server at {address} refuses this agent: {detail}',
    'Ask the operator for an identity that it knows: `sigma keys add`, then have the servers read their users again.',
  ),

  // --- wire
  FRAME_CORRUPT: retry(
    'a message arrived damaged: its {part} failed the check',
    'Send it again; the client library does so by itself. If this recurs, look for a buffer that is reused after sending.',
  ),
  VERSION: fault(
    'the other side speaks version {got} of the protocol; this one supports {supported}',
    'Install the same version of sigma on both sides, and restart the older one.',
  ),
  TOO_LARGE: failed(
    '{what} of {bytes} {unit|bytes} exceeds the limit of {limit}',
    'Give less at once, or give it in parts.',
  ),
  MALFORMED_PAYLOAD: failed(
    'the message cannot be read: {detail}',
    'Correct what it names. If no person wrote it, check that both sides run the same version.',
  ),
  PROTOCOL_UNEXPECTED_EVENT: failed(
    '{event} is not possible in state {state}',
    'Look at the present state, then try again. A client of your own greets the broker again (HELLO).',
  ),

  // --- broker and client
  NO_BROKER: offline(
    'no broker answers at {address}',
    'Start one with `sigma up` or `sigma bus`, or set SIGMA_BUS to its address. Questions about code need no broker with --repo DIR.',
  ),
  BROKER_LOST: offline(
    'the connection to the broker was lost before the answer came',
    'Ask again; the client reconnects by itself.',
  ),
  BROKER_RUNNING: failed(
    'another broker owns {path}',
    'Use the running broker (`sigma status`), stop it, or set SIGMA_HOME to another folder.',
  ),
  ALREADY_SERVED: failed(
    'the shards of {path} are already served',
    'Ask your questions (`sigma agents` lists the shards). After a change in the tree, run `sigma index {path}`.',
  ),
  HOST_BUSY: retry(
    '{limit} questions already wait for memory at the host of this shard',
    'Ask again later, raise --memory of the host, or start more hosts with --hosts.',
  ),
  BROKER_DRAINING: offline('the broker is shutting down', 'Try again in a few seconds.'),
  BROKER_BUSY: retry(
    'the broker already works on {limit} requests or messages of this client',
    'Wait until some of them have ended, then try again.',
  ),
  REGISTRY_FULL: retry(
    'the broker already knows {limit} agents, all of them online',
    'Stop agents that are not needed.',
  ),
  SESSIONS_FULL: retry(
    'the broker already has {limit} sessions',
    'End clients that are not needed, then try again.',
  ),
  UNAUTHORISED: failed(
    '{agent} may not act as {role}: {why}',
    'Take a name of your own and do what your role may do. Roles of the product are proven by the key files of the SIGMA_HOME of the broker.',
  ),
  SUPERSEDED: failed(
    'a newer process took over as {agent}',
    'Stop one of the two processes, or give them different names.',
  ),
  INVALID_NAME: usage(
    '"{name}" is not a valid {what}',
    'Use lower-case letters, digits, "_" and "-", at most 96 characters.',
  ),
  UNKNOWN_AGENT: unknown(
    'there is no agent {agent}',
    'Run `sigma agents` to see the known agents.',
  ),
  AGENT_OFFLINE: offline(
    'agent {agent} is registered but not connected',
    'Start it, or wait for its return (`sigma agents`).',
  ),
  ALIAS_TAKEN: failed(
    'another agent is already called {alias}',
    'Choose another alias (`sigma agents` lists those in use).',
  ),
  AMBIGUOUS_ALIAS: unknown('several agents are called {alias}: {agents}', 'Address one by its id.'),
  NO_RESPONDER: offline(
    'no agent answers for {service}',
    'Start an agent that offers it: `sigma up`, or `sigma agent manager`.',
  ),
  RESPONDER_LOST: retry(
    '{agent} disconnected before it answered',
    'Ask again: the agent restarts, or another one answers.',
  ),
  PEER_STALLED: retry(
    '{agent} is connected, but does not take what is sent to it',
    'Ask again later, or restart that agent.',
  ),
  REPLY_DROPPED: retry(
    '{agent} did the work, but its connection had no room for the answer',
    'See what it has done before you ask again; ask for less at once.',
  ),
  UNKNOWN_REQUEST: failed(
    'no open request has the id {id}',
    'Drop the reply: the requester gave up, or already has an answer.',
  ),
  UNKNOWN_TYPE: failed(
    '{agent} does not understand messages of type {type}',
    'Check the type. If no person named it, check that both sides run the same version.',
  ),
  DEADLINE_EXCEEDED: retry('no answer within {ms} ms', 'Ask again with a longer deadline.'),
  CANCELLED: stopped('the request was cancelled', 'Ask again if the answer is still wanted.'),
  RATE_LIMITED: retry(
    '{agent} exceeds its rate of frames or bytes per second',
    'Send less at once. `permissions` in config.json sets the rate of each role.',
  ),
  INBOX_FULL: retry(
    'the mailbox {mailbox} is full ({depth} messages)',
    'Send again when its agent has worked off some. `sigma inbox --as AGENT` shows what waits, `sigma dead list` what was given up.',
  ),
  INBOX_EMPTY: retry(
    'no message came to {mailbox}',
    'Wait longer (`sigma receive --wait DURATION`), or look again with `sigma check`.',
  ),
  OUT_OF_ORDER: retry(
    'message {id} follows {after}, which was not accepted',
    'Send the earlier one first; the client library does so by itself.',
  ),
  NO_MAILBOX: unknown(
    '{agent} reads no messages, so nothing was sent',
    'Ask it instead: `sigma query AGENT "…"`, `sigma critic`. `sigma agents` shows who else is there; those with no_mail read none.',
  ),
  NO_SUCH_MESSAGE: failed(
    'there is no stored message {message}',
    'The message was settled or never accepted: see `sigma inbox` and `sigma dead list`.',
  ),
  STORE_UNAVAILABLE: retry(
    'the store at {path} cannot be used: {detail}',
    'Check free space and permissions of that folder.',
  ),
  STORE_LOCKED: retry(
    'another process owns the store at {path}',
    'Wait for the other process, or stop it.',
  ),
  JOURNAL_UNAVAILABLE: retry(
    'queries do not survive a restart of the manager: {detail}',
    'Free space on that disk. A damaged folder may be removed; it holds only queries under way.',
  ),
  STORE_SCHEMA: fault(
    'the store at {path} has layout {got}; this version needs {wanted}',
    'Use the version of sigma that wrote it. Without the folder everything begins anew: what it holds is lost.',
  ),
  RECORD_DAMAGED: fault(
    'the stored record {key} cannot be read: {detail}',
    'Check the disk. All other records are served; `sigma task list` shows the state of the task.',
  ),
  LOG_CORRUPT: fault(
    'entry {sequence} of the log in {log} cannot be read: {detail}',
    'Let a machine lead whose replica is past that entry: its next snapshot replaces the log up to there.',
  ),
  STORE_NOT_EMPTY: failed(
    'the store at {path} is not empty',
    'Add --force: one on this machine is then moved aside, one on NATS is replaced. Or name another.',
  ),
  STORE_MOVED: failed(
    'the store at {path} is not to be served: {detail}',
    'Run `sigma bus migrate` again to end a move; else serve what was moved from where it is now. With --force what is left here is moved once more.',
  ),
  MOVE_DIFFERS: fault(
    'what arrived at {path} is not what was moved: {detail}',
    'Run `sigma bus migrate` again; the source is as it was.',
  ),
  BACKUP_FOLDER: usage(
    'cannot write a backup to {path}: {detail}',
    'Name an empty or new folder on the machine of the broker.',
  ),
  BACKUP_INVALID: failed(
    '{path} is not a backup that can be restored: {detail}',
    'Use another backup; this one is incomplete or was changed.',
  ),
  SOCKET_PATH: usage(
    'the socket address {address} cannot be used: {detail}',
    'Correct the address. An ipc:// path has at most 100 bytes and is in a folder that only you can enter: choose a shorter SIGMA_HOME, or set SIGMA_BUS.',
  ),

  // --- blobs
  BLOB_MISSING: failed(
    '{owner} does not have the blob {sha256}',
    'Ask its owner for a new reference; blobs in memory are kept for a limited time.',
  ),
  BLOB_CORRUPT: fault(
    '{owner} sent content that does not match the blob {sha256}',
    'Ask its owner to offer it again: the content changed.',
  ),
  HTTP_ADDRESS: retry(
    'metrics cannot be served at {address}: {detail}',
    'Free that port, or name another one in `http` of config.json or SIGMA_HTTP.',
  ),

  // --- MCP
  NO_FORM: failed(
    'only a person decides this, and this client shows them no form',
    'Show them what is asked, and have them run `{command}`.',
  ),
  TOOL_INPUT: usage(
    'the arguments of {tool} are not valid: {detail}',
    'Correct the named argument; see the input schema of the tool.',
  ),

  // --- servers over HTTP
  SERVER_TOKEN: usage(
    'the bearer token is missing or wrong',
    'Send `Authorization: Bearer TOKEN`; `{command}` prints the file that holds the token.',
  ),
  SERVER_FOREIGN: usage(
    'the request names {name}, which is not this server',
    'Name 127.0.0.1 or localhost, or a name of the certificate over TLS; other names, and requests of web pages, are refused.',
  ),
  SERVER_ADDRESS: retry(
    'the server cannot listen at {address}: {detail}',
    'Free that port, or name another one with the option that names it.',
  ),
  SERVER_CERTIFICATE: usage(
    'the server cannot show the certificate {path}: {detail}',
    'Correct `console` in config.json; `deploy/certificates.sh` makes a certificate and its key.',
  ),

  // --- the console
  CONSOLE_NOT_BUILT: fault(
    'the page of the console was not built',
    'Run `npm run build` in the folder of Sigma Bus.',
  ),
  CONSOLE_NONE: unknown(
    'no console of this home answers',
    'Start one with `sigma console`, or with `sigma up` in a terminal.',
  ),
  CONSOLE_LINK: usage(
    'this link is wrong, was used already, or is too old',
    'Open a new one: `sigma console --link` prints it.',
  ),
  CONSOLE_SESSION: usage(
    'you are not logged in here, or no longer',
    'Open a new link: `sigma console --link` prints it.',
  ),
  CONSOLE_CSRF: usage(
    'the request lacks the mark of its session, or is not JSON',
    'Reload the page, and do it there once more.',
  ),
  CONSOLE_READ_ONLY: usage(
    '{name} changes something, and this console only shows',
    'Start `sigma console` without --read-only, or use the command line.',
  ),
  CONSOLE_BUSY: retry(
    'this browser has {limit} {what} at once, which is the most',
    'Wait until one of them is over, or close a page.',
  ),
  CONSOLE_NOTHING: usage('there is nothing at {path}', 'Open `/`, and go on from there.'),

  // --- tasks
  TASK_INVALID: usage(
    'the task is not valid: {detail}',
    'Correct the named field; `sigma delegate --schema` prints the schema of a task.',
  ),
  TASK_EXISTS: failed('another task already has the id {task}', 'Use another id, or omit it.'),
  NO_SUCH_TASK: failed(
    'there is no task {task}',
    'Run `sigma task list`; finished tasks are kept for a limited time.',
  ),
  TASKS_FULL: retry(
    'the manager already has {limit} open tasks',
    'Wait until some tasks end, or cancel those that are not needed.',
  ),
  TASK_STATE: failed(
    'task {task} is {state}; {what} is not possible now',
    'Run `sigma task show {task}` to see the possible commands.',
  ),
  TASK_NOT_YOURS: failed(
    '{agent} may not {what} task {task}',
    'A person decides about results: `sigma task review`. The agent that delegated a task may answer, reassign and cancel it.',
  ),
  TASK_WAITS: failed(
    'task {task} waits for a decision: {asks}',
    'Run `sigma task show {task}` to see the commands that decide.',
  ),
  TASK_UPDATE_INVALID: usage(
    'the update of the task list is not valid: {detail}',
    'Correct the named field; nothing was changed. `sigma task update --schema` prints the schema.',
  ),
  LIST_FULL: failed(
    '{what} already holds {limit}',
    'Complete finished entries: they make room for new ones.',
  ),
  GATE_DETECTED: failed('the action is risky: {detail}', 'Run `sigma gate` and decide.'),
  GATE_EXPIRED: failed(
    'the gate of task {task} was not judged in time',
    'Delegate the task again, and judge its gate with `sigma gate`.',
  ),
  GATE_HALTED: failed('{by} halted the action at {gate}', 'Delegate the work in another way.'),
  GATE_WITHDRAWN: failed(
    '{by} withdrew the whole session at {gate}',
    'Delegate again the work that is still wanted.',
  ),
  SESSION_WITHDRAWN: failed(
    'another task of its session stopped at a gate, and all of the session was withdrawn',
    'Run `sigma gate list --all` to see where and by whom; delegate again the work that is still wanted.',
  ),
  GATES_EXCEEDED: failed(
    'task {task} stopped at a gate {limit} times',
    'Split the task, or delegate its risky actions one by one.',
  ),
  NO_SUCH_GATE: failed('there is no gate {gate}', 'Run `sigma gate list` to see the open gates.'),
  GATE_JUDGED: failed(
    'gate {gate} is already {state}',
    'Run `sigma gate show {gate}` to see how it was judged.',
  ),
  GATE_CHANGED: failed(
    'gate {gate} now asks about another action than the one you judged',
    'Run `sigma gate show {gate}` and judge the action that it shows.',
  ),
  GATE_NOT_YOURS: failed('{agent} may not judge {what}', 'Run `sigma gate`: a person decides.'),
  SESSION_NOT_YOURS: failed(
    '{agent} may not delegate in session {session}',
    'Omit the session: approvals then hold for the delegating agent.',
  ),
  GRANT_REFUSED: failed(
    'permission to run the action of task {task} is refused: {detail}',
    'Run `sigma gate`: the action needs a new decision.',
  ),
  GRANT_USED: failed(
    'the permission {grant} was already used: it holds for one run',
    'Run `sigma gate`: the action needs a new decision.',
  ),
  ACTION_CHANGED: retry(
    '{file} of the action of task {task} changed during the start; nothing ran',
    'Delegate it again when its scripts no longer change.',
  ),
  ATTEND_INVALID: usage(
    'the session cannot start or take this answer: {detail}',
    'Correct the named field; see `sigma attend --help`.',
  ),
  ATTEND_STATE: failed(
    'session {context} is {state}; {what} is not possible now',
    'Run `sigma attend show {context}` to see what it asks, or how it ended.',
  ),
  ATTEND_ASKS: failed(
    'session {context} waits for your answer: {asks}',
    'Answer with `sigma attend answer {context} CHOICE`, judge its gates, or answer its tasks (`sigma task show ID`).',
  ),
  ATTEND_UNSITUATED: failed(
    'session {context} ended without convergence: {tasks} completed, and nothing shows that their risk was judged',
    'Run `sigma attend show {context}` and inspect these tasks.',
  ),
  NO_TASKS: failed(
    'session {context} ended without work: nothing was named, and its list holds nothing that is left',
    'Name an intent in words, tasks (--tasks), or the result of an earlier protocol (--prior).',
  ),
  NOT_DONE: failed(
    'this was not done: {why}',
    'Look at what there is with `sigma task show ID`; provide what is needed, then run it again.',
  ),
  ATTEND_UNDONE: failed(
    'session {context} ended without convergence: {what}',
    'Run `sigma task show ID` for the reason, then attend {context} again: what is left is resumed.',
  ),
  ATTEND_WITHDRAWN: failed(
    'the session of attention was withdrawn',
    'Attend again the intent that is still wanted.',
  ),
  ATTEND_EXPIRED: failed(
    'the question of a session was not answered in time',
    'Attend the intent again; its list of tasks is kept.',
  ),
  ATTEND_NOT_YOURS: failed(
    '{agent} may not {what} session {context}',
    'Run `sigma attend answer {context}`: a person decides.',
  ),
  NO_SUCH_SESSION: failed(
    'there is no session {context}',
    'Run `sigma attend list` to see the sessions.',
  ),
  SESSION_EXISTS: failed(
    'session {context} is already open',
    'Run `sigma attend show {context}`, or name another session with --context.',
  ),
  ATTEND_FULL: retry(
    '{limit} sessions are already open',
    'Answer or withdraw one: `sigma attend list`.',
  ),
  STALE_ATTEMPT: failed(
    'attempt {attempt} at task {task} has ended; the latest is {now}',
    'Drop this work: another worker has the task, or it has ended.',
  ),
  TASK_NOT_ASSIGNED: failed(
    'task {task} is not assigned to {agent}: {why}',
    'Send results only of tasks that a `task.assign` gave to you, with its attempt.',
  ),
  NO_WORKER: retry(
    'no worker can do task {task}: {detail}',
    'Start an executor (`sigma up`, `sigma agent executor`); the task waits for it.',
  ),
  LEASE_EXPIRED: retry(
    'the worker sent no sign of life',
    'Read the log of that worker. The manager gives the task to another one.',
  ),
  WORKER_LOST: retry(
    'worker {agent} disconnected before it answered',
    'Wait: the manager gives the task to another worker.',
  ),
  TASK_TIMED_OUT: retry(
    'the task was not finished within {ms} ms',
    'Run `sigma task retry {task} --timeout DURATION`.',
  ),
  DECISION_EXPIRED: retry(
    'the decision did not come in time',
    'Run `sigma task retry {task}` and answer its questions: `sigma task list --state deciding,clarifying,blocked`.',
  ),
  REFUSED: failed(
    'the result was refused',
    'Read the reason with `sigma task show`, then delegate the task again.',
  ),
  EVIDENCE_REFUSED: failed(
    'the evidence does not support the result: {detail}',
    'Read the findings of each attempt with `sigma task show`.',
  ),
  PROTOCOL_MISMATCH: retry(
    'worker {agent} answered without the required evidence',
    'Update that worker; the task goes to a worker that can ground its answers.',
  ),
  DEPENDENCY_FAILED: failed(
    'this task depends on task {task}, which is {state}',
    'Delegate that task again, and this one after it; or let this one go on without it: `sigma task update ID --relax`.',
  ),
  OVERLAYS_MISSING: retry(
    'none of the overlays {overlays} is built',
    'Build them: `sigma overlay generate`.',
  ),
  PGC_FAILED: retry(
    'the agents that know the code (PGC) did not answer: {detail}',
    'Check `sigma status`, then run `sigma task update ID --reassign`; --relax continues without evidence.',
  ),
  OUTCOME_UNKNOWN: failed(
    'the action was interrupted; it may or may not have taken effect',
    'Check its effect, then run `sigma task update ID --outcome done|failed`, or --reassign to run it again.',
  ),
  WORKER_GAVE_UP: failed(
    'the worker gave up: {detail}',
    'Read what it says; then try the task again, or give it to another worker with `sigma delegate --to`.',
  ),
  ACTION_FAILED: failed(
    '{program} ended with {detail}',
    'Read its output in the result of the task.',
  ),
  CHANGE_DOUBTED: failed(
    'the change is doubtful: {detail}',
    'Look at its files; then `sigma task update ID --accept`, `--revise "what is wrong"` or `--refuse`.',
  ),
  CHANGES_UNSEEN: failed(
    'what was changed cannot be seen: the folder is under no version control that can be read here',
    'Put the folder under git, and what an agent changes is seen and checked.',
  ),
  ACTION_REFUSED: failed(
    'the action cannot run: {detail}',
    'Correct the action; `executor` in config.json says what the executor allows.',
  ),
  SANDBOX_UNAVAILABLE: failed(
    'the sandbox that keeps programs from the keys of the bus is not available: {detail}',
    'Install util-linux 2.38 or newer and allow user namespaces (kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0, kernel.apparmor_restrict_unprivileged_userns=0); or accept the risk with `"executor": {"sandbox": "off"}` in config.json.',
  ),
  SANDBOX_ROOT: usage(
    'the root {root} of the executor lies in {folder}, which the sandbox hides',
    'Name another root, or move SIGMA_HOME, the socket or the identity elsewhere.',
  ),
  NO_RUNNER: failed(
    'this executor has no runner {runner}: {detail}',
    'Configure it at the executor, or choose another runner.',
  ),

  // --- critiques of the results of tasks
  RATIFY_STATE: failed(
    '{artifact} waits for no decision: it is {state}',
    'Read its history: `sigma critic history ARTIFACT`.',
  ),
  RATIFY_OLD: failed(
    'what you decide on is not the last review of {artifact}',
    'Read the last one, then decide: `sigma critic history ARTIFACT`.',
  ),
  CRITIQUE_CONDITIONAL: failed(
    'only a person can accept the result: {detail}',
    'Read each critique with `sigma task story TASK`.',
  ),
  CRITIQUE_REFUSED: failed(
    'the critic did not accept the result: {detail}',
    'Read each critique with `sigma task story TASK`.',
  ),
  CRITIC_UNAVAILABLE: retry(
    'the result was not reviewed: {detail}',
    'Start a critic: `sigma up`, or `sigma agent critic`.',
  ),

  // --- prompts
  PROMPT_INVALID: usage(
    'the prompt is not valid: {detail}',
    'Correct the named places; nothing ran. Begin a content line that looks like a command with two slashes.',
  ),
  NAME_TAKEN: failed(
    'the queue of {owner} already has an open task named {name}',
    'Use another name, or omit it.',
  ),
  QUEUE_FULL: retry(
    '{owner} has {limit} open tasks in its queue',
    'Start some of them and wait, or kill those that are not needed.',
  ),
  TREE_FULL: failed(
    'the task {root} already has {limit} tasks below it',
    'Do the rest in one task, or push it from outside after this task ends.',
  ),
  SPAWN_DEPTH: failed(
    'a task at this depth may not push tasks ({depth} of {limit} levels)',
    'Do the work in this task, or push it at the end of the prompt: it then goes into the queue of the parent.',
  ),
  QUEUE_EXPIRED: failed(
    'task {task} was never started',
    'Push it again and start it: `sigma queue run`.',
  ),
  QUEUE_NOT_YOURS: failed(
    '{agent} may not use the queue of {owner}',
    'Use your own queue, or act as an operator.',
  ),
  NOBODY_LEFT: failed(
    'no task is left that could answer{from}: {queued} queued, none running',
    'Start the queued tasks, or continue without an answer.',
  ),
  PARENT_OVER: failed(
    'the parent task has ended or restarts: {parent}',
    'Push the task again from a parent that waits for its results.',
  ),
  SIBLING_FAILED: failed(
    'task {task} of the same queue failed',
    'Run `sigma task show {task}` to see why, then push the rest again.',
  ),
  KILLED: failed('killed by {by}', 'Push it again if it is still wanted.'),
  AGENT_DISMISSED: failed(
    'agent {agent} was dismissed because its task ended',
    'Run `sigma task show {agent}` to see the result.',
  ),
  HISTORY_FULL: failed(
    'the conversation of {task} holds {what}; the limit is {limit}',
    'Split the work: push its parts as tasks.',
  ),
  READ_OUTSIDE: usage(
    '{path} lies outside the folder that the agent may read',
    'Name a file inside the folder of the agent.',
  ),
  READ_MISSING: failed(
    'there is no file {path}',
    'Check the name; paths start at the folder of the agent.',
  ),
  READ_NOT_A_FILE: usage(
    '{path} is not a regular file',
    'Name a file, not a folder, a pipe or a device.',
  ),
  READ_TOO_LARGE: usage(
    '{path} has {bytes} bytes; the limit is {limit}',
    'Ask for the part you need, or put that part into a file of its own.',
  ),
  READ_BINARY: usage('{path} is not UTF-8 text', 'Name a text file.'),
  READ_UNREADABLE: failed('{path} cannot be read: {detail}', 'Check its permissions.'),

  // --- code and indexes
  REPO_UNREADABLE: failed(
    '{path} cannot be read: {detail}',
    'Name an existing folder that you may read.',
  ),
  REPO_EMPTY: failed(
    '{path} holds no source file in a known language',
    'Name the root of a source tree; `sigma index REPO --left-out` lists skipped files and the reasons.',
  ),
  PATH_OUTSIDE_ROOT: usage('{path} lies outside {root}', 'Name a path inside the repository.'),
  SHARD_PLAN_INVALID: usage(
    'the shard plan is not valid: {detail}',
    'Use auto, a number, maintainers, codeowners, or a JSON file {"shards":[{"alias":"mm","paths":["mm"]}]}.',
  ),
  INDEX_MISSING: failed('there is no index of {path}', 'Build it: `sigma index {path}`.'),
  INDEX_BUILDING: retry(
    'another process is building the index of {path}',
    'Wait for it; an existing index is served meanwhile.',
  ),
  SCIP_UNREADABLE: failed(
    'the SCIP index {path} cannot be read: {detail}',
    'Name a file that you may read.',
  ),
  SCIP_INVALID: failed(
    '{path} is not a SCIP index that can be used: {detail}',
    'Make it again with a SCIP indexer; the index of the tree stays as it was.',
  ),
  SCIP_TOO_LARGE: failed(
    'the SCIP index {path} has more than {limit} {what}',
    'Index parts of the tree one by one, and give each of them with --scip.',
  ),
  SCIP_UNRELATED: failed(
    'no document of {path} is a file of this tree as it is now',
    'Run the SCIP indexer on this version of the tree, in its root folder.',
  ),
  WATCH_LIMITED: failed(
    'file events are not available for {path}: {detail}',
    'Raise the limit (`sysctl fs.inotify.max_user_watches=524288`), or install Sigma Bus with its optional packages. Until then the tree is polled, which notices changes later.',
  ),
  ALREADY_WATCHED: failed(
    'process {pid} already watches {path}',
    'Use that one: every host follows the index that it refreshes.',
  ),
  INDEX_BEHIND: retry(
    'what answers this has changed since it was indexed: {paths}',
    'Refresh the index with `sigma index REPO`, then ask again; `sigma up --watch` does so within seconds of a change.',
  ),
  INDEX_CHANGED: retry('the index of {agent} changed during the query', 'Ask again.'),
  INDEX_CORRUPT: fault(
    'the index file {path} is damaged ({detail})',
    'Rebuild it: `sigma index REPO --check` finds all that is damaged, then `sigma index REPO` replaces it.',
  ),
  INDEX_UNPINNED: failed(
    'the index of {path} cannot be published: {detail}',
    'Commit, then run `sigma index {path}`; or index what is committed: `sigma index {path} --as-of HEAD`.',
  ),
  PUBLISHED_MISSING: failed(
    'no index of {what} is published at {place}',
    'Publish one there: `sigma index REPO --publish PLACE`. A place that is not public needs SIGMA_INDEX_TOKEN.',
  ),
  PUBLISHED_VERSION: failed(
    'the index at {place} is one of sigma {theirs}, whose files this version cannot use',
    'Use that version here, or publish the index again with this one; both can lie in one place.',
  ),
  PUBLISHED_DAMAGED: failed(
    'the index at {place} is damaged: {name}: {detail}',
    'Replace what is damaged with `sigma index REPO --publish PLACE --check`, then pull again. The index here is as it was.',
  ),
  PUBLISHED_UNREACHABLE: retry(
    '{place} cannot be used: {detail}',
    'Run the command again: what has arrived is kept.',
  ),
  PUBLISHED_REFUSED: failed(
    '{place} refuses this: {detail}',
    'Check the address, and who may use the place: a web server takes the token in SIGMA_INDEX_TOKEN, the bus agents of the roles pgc and operator.',
  ),
  MINER_FAILED: retry(
    '{path} could not be read into the index: {detail}',
    'Run the command again; finished files are kept.',
  ),
  NO_SUCH_SYMBOL: failed(
    'no symbol {symbol} is defined here',
    'Check the spelling, or search with `sigma ask`.',
  ),
  NOT_FOUND: failed(
    'nothing was found in the index that answers the question',
    'Use names, paths or messages from the code base.',
  ),
  NOTHING_LEFT: failed(
    'no answer is known that ended with {id}',
    'Explore again with the question or the names.',
  ),
  QUESTION_UNREADABLE: usage(
    'the question is not text',
    'Ask in UTF-8 text; a log or a stack trace may be part of the question.',
  ),
  EMPTY_QUESTION: usage('the question is empty', 'Ask in words, or name a symbol.'),
  UNKNOWN_OVERLAY: usage(
    'there is no overlay {overlay}',
    'Use O1 to O7; `sigma overlay list` shows those that are ready.',
  ),
  OVERLAY_MISSING: failed(
    'overlay {overlay} is not built for {agent}',
    'Ask without --overlays, or choose one that is ready: `sigma overlay list`.',
  ),
  OVERLAY_BUILDING: retry(
    'overlay {overlay} of {agent} is being built',
    'Ask again in a moment; the other overlays answer now.',
  ),
  OVERLAY_FAILED: failed(
    'overlay {overlay} of {agent} could not be built ({reason})',
    'Run `sigma index REPO` to try again; `sigma overlay list` shows all overlays.',
  ),
  CITATION_MALFORMED: usage(
    'this is not a citation: {detail}',
    'Give one citation, or an array of them, with file_path, content and, where you know them, line_start and line_end.',
  ),
  REPORT_EMPTY: usage(
    'the report holds no words to search for',
    'Describe the fault in words, or add the log or the stack trace.',
  ),
  REPORT_UNREADABLE: usage(
    'the report cannot be read: {detail}',
    'Give UTF-8 text: a description, a log or a stack trace.',
  ),
  REPORT_MALFORMED: usage(
    'this line is not a report: {detail}',
    'Give one JSON object per line: {"id":"1","title":"…","description":"…"}.',
  ),

  // --- language models
  MODEL_UNAVAILABLE: retry(
    'the language model {model} does not answer: {detail}',
    'Try again; check `model.url` in config.json, or SIGMA_MODEL_BASE_URL.',
  ),
  MODEL_REFUSED: fault(
    'the language model {model} refused the request: {detail}',
    'Check `model` in config.json and the key in SIGMA_MODEL_KEY.',
  ),
  MODEL_INVALID: retry(
    'the answer of the language model {model} cannot be used: {detail}',
    'Try again, or use another model; check that `model.url` in config.json is a chat endpoint.',
  ),
  MODEL_TRUNCATED: failed(
    'the answer of the language model {model} was cut off: {detail}',
    'Ask for less at once, or allow longer answers at the endpoint.',
  ),
  MODEL_ANSWER_TOO_LARGE: failed(
    'the answer of the language model {model} exceeds the limit of {max} {what}',
    'Ask for less at once.',
  ),
  MODEL_REQUEST_TOO_LARGE: failed(
    'the language model {model} was not asked: {its} {what} exceed the limit of {max}',
    'Drop old messages of the conversation, or shorten the request.',
  ),
  MODEL_CALL_INVALID: retry(
    'the call of tool {tool} was not run: {detail}',
    'Call it again with its arguments as one JSON object.',
  ),
  MODEL_BUDGET_SPENT: failed(
    'this task has used its tokens: {spent} of {max}',
    'Delegate the rest as another task, or grant more tokens.',
  ),
  MODEL_BUSY: retry(
    '{limit} requests already wait for the language model {model}',
    'Ask again later, or with --engine extractive.',
  ),
  MODEL_NO_TIME: retry(
    'the language model {model} did not answer within {ms} ms',
    'Ask again with a longer deadline.',
  ),
  MODEL_UNGROUNDED: retry(
    'no sentence of the language model cites a source that it was given: {dropped} sentences dropped',
    'Delegate the task again, or use another model; `sigma ask` answers without one.',
  ),

  // --- lattice
  NO_ROUTE: failed(
    'no path leads from {from} to {to}',
    'Calls: `sigma callees` and `sigma callers` say what is known at either end. Agents: `sigma lattice topology` shows the dependencies.',
  ),
  SEARCH_CUT: failed(
    'the search for a path from {from} to {to} stopped after {limit} functions: there may be one',
    'Ask for a part of the way, or for one definition as path#name; `sigma callees` and `sigma callers` say what is known at either end.',
  ),
  MAX_HOPS_EXCEEDED: failed(
    'the path needs more than {limit} agents',
    'Raise --max-hops, or ask closer to the goal with --from.',
  ),
  NO_SHARDS: offline(
    'no PGC agent is online',
    'Start one: `sigma up REPO` or `sigma agent pgc REPO`.',
  ),
  AGENT_FAILED: retry('{agent} failed: {detail}', 'Ask again; see the log of that agent.'),

  // --- critic: reviews
  REVIEW_INVALID: usage(
    'the review is refused: {detail}',
    'Correct the request: see `sigma critic --help`.',
  ),
  REVIEW_CHANGED: failed(
    'review {id} was started with another text or other options',
    'Use another id, or omit it.',
  ),
  REVIEW_BUSY: retry(
    '{limit} reviews already run or wait at the critic',
    'Ask again when some have ended: `sigma critic list`.',
  ),
  REVIEW_UNDER_WAY: retry(
    'review {id} is not finished: {done} of {total} modes are done',
    'Ask again with the id {id} to continue it.',
  ),
  REVIEW_TIMED_OUT: retry('the review ran out of time', 'Give it more time, or use fewer modes.'),
  MODE_TIMED_OUT: retry(
    'mode {mode} took longer than {ms} ms; its findings so far are kept',
    'Review a smaller artifact, or use this mode alone.',
  ),
  MODE_INTERRUPTED: failed(
    'the critic ended {times} times during mode {mode}, which is not started again',
    'Read its log; review a smaller artifact, or omit this mode.',
  ),
  MODE_UNAVAILABLE: failed('this critic has no mode {mode}', 'Omit it, or update the critic.'),
  GOVERNANCE_VIOLATION: failed(
    'the artifact breaks a rule of governance at {criticality}',
    'Have a person review it before work continues.',
  ),
  HARD_RULE_CONTRADICTED: failed(
    'what the artifact says of the code is wrong, in a sentence that states a hard rule',
    'Correct the sentence: the artifact cannot pass as it is.',
  ),
  NOTHING_LOOKED_AT: failed(
    'there was nothing that it could look at',
    'Index the tree (`sigma index`), or name code, paths and lines in the artifact.',
  ),
  RULES_UNREAD: failed(
    'a rule could not be read, so that it was held against none',
    'Correct the rule: the report of the mode names its file and line.',
  ),
  HARD_RULE_BROKEN: failed(
    'the artifact holds what none may hold: a secret, or lines of a merge that was not finished',
    'Remove what the finding names: the artifact cannot pass as it is.',
  ),
  NO_SUCH_ARTIFACT: failed(
    'there is no review of {artifact}',
    'Run `sigma critic list` to see the reviewed artifacts.',
  ),
  NO_SUCH_REVIEW: failed(
    'there is no finished review {id}',
    'Reviews are kept for a limited time: `sigma critic list` shows the last of each artifact.',
  ),
  AMBIGUOUS_ARTIFACT: unknown(
    'several artifacts are called {artifact}: {names}',
    'Name it by its full path.',
  ),
  RATIFY_NOT_YOURS: failed(
    '{agent} may not judge a review',
    'Ratify as an operator: a person decides.',
  ),
  ORCHESTRATION_INVALID: usage(
    'the orchestration is not valid: {detail}',
    'Correct the file at the named line.',
  ),
  CRITIC_ELSEWHERE: retry(
    'another critic of this home holds the reviews at {path}',
    'Ask it over the bus (`sigma up`), or wait until it has ended.',
  ),
};

export type ErrorCode = keyof typeof entries;

export const catalogue: Record<ErrorCode, ErrorEntry> = entries;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(catalogue, text);
}
