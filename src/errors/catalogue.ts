/**
 * Every error that leaves this program. The code is the interface; the text may improve.
 * `{name}` in a text is filled from the error's data. Retired codes are never used again.
 */
export interface ErrorEntry {
  text: string;
  /** What to do next, in the imperative. */
  next: string;
  /** The same request may succeed later. */
  retryable: boolean;
  /** Exit code: 1 the work failed · 2 wrong usage · 3 no broker, or no such agent · 130 interrupted. */
  exit: 1 | 2 | 3 | 130;
}

/** Where absent: not retryable, exit code 1. */
const entries = {
  // --- use of the command line and configuration
  USAGE: {
    text: '{detail}',
    next: 'Run `sigma --help`, or the command with --help.',
    exit: 2,
  },
  CONFIG_INVALID: {
    text: 'the configuration is not valid: {detail}',
    next: 'Correct the named setting and start again.',
    exit: 2,
  },
  UNKNOWN_ERROR_CODE: {
    text: 'there is no error code {code}',
    next: 'Run `sigma error` without a code to list them all.',
    exit: 2,
  },
  INTERRUPTED: {
    text: 'interrupted',
    next: 'Run the command again; finished work is kept.',
    retryable: true,
    exit: 130,
  },
  INTERNAL: {
    text: 'unexpected failure: {detail}',
    next: 'Run again with SIGMA_LOG=debug and report the output.',
  },
  CHILD_FAILED: {
    text: '{name} exited at once with code {code}',
    next: 'Read its message above.',
  },

  // --- attention
  ATTENTION_POLICY_INVALID: {
    text: 'the attention policy {file} is not valid: {detail}',
    next: 'Correct the named field. `sigma attend --classify --policy FILE` checks a policy without a broker.',
    exit: 2,
  },
  ATTENTION_LINE_INVALID: {
    text: 'line {line} is not an action: {detail}',
    next: 'Write one JSON object per line, with `argv` (a list of words) or `command` (shell text).',
    exit: 2,
  },

  // --- critic: what a review is asked for
  MODE_UNKNOWN: {
    text: "Unknown mode '{mode}'. Available modes: self-refine, steelman, inversion, constitutional, devils-advocate, pre-mortem, fmea, chain-of-verification, llm-as-judge, red-team",
    next: 'Separate modes with commas, or omit --mode.',
    exit: 2,
  },
  ARTIFACT_REQUIRED: {
    text: 'Artifact path required',
    next: 'Name the artifact: `sigma critic --artifact PATH`.',
    exit: 2,
  },
  ARTIFACT_NOT_FOUND: {
    text: "Artifact not found at '{path}'",
    next: 'Name a readable text file.',
    exit: 2,
  },
  MODE_ORDER: {
    text: '{detail}',
    next: 'Name the modes in another order, or omit --strict-order to have them sorted.',
    exit: 2,
  },
  REVIEW_NOT_PERMITTED: {
    text: '{detail}',
    next: 'Run again with --explain to see why.',
  },
  CRITIC_POLICY_INVALID: {
    text: 'the escalation rules in {file} are not valid: {detail}',
    next: 'Correct the named field. `sigma critic --explain --policy FILE` checks the rules without a review.',
    exit: 2,
  },
  CRITIC_CONTEXT_INVALID: {
    text: '{file}:{line}:{column}: {detail}',
    next: 'Correct the named line. `sigma critic --context FILE --explain` checks the file without a review.',
    exit: 2,
  },
  CRITIC_LINE_INVALID: {
    text: 'line {line} is not a context vector: {detail}',
    next: 'Write one JSON object per line: {"id":"1","criticality":"C2","phase":"PH-DESIGN",…}.',
    exit: 2,
  },

  // --- keys
  KEYS_MISSING: {
    text: 'keys are missing for {address}: {detail}',
    next: 'Run `sigma keys init` and `sigma keys add AGENT --role ROLE --out FILE` at the broker, then name that file in SIGMA_IDENTITY at the client.',
    exit: 2,
  },
  KEY_FILE_INVALID: {
    text: 'the key file {path} cannot be used: {detail}',
    next: 'Set its mode to 0600. If it is damaged, replace it: `sigma keys rotate`.',
    exit: 2,
  },
  IDENTITY_EXISTS: {
    text: 'agent {agent} already has keys',
    next: 'Replace them: `sigma keys rotate {agent} --out FILE`.',
  },
  UNKNOWN_IDENTITY: {
    text: 'agent {agent} has no keys',
    next: 'Run `sigma keys list` to see the known agents, or `sigma keys add {agent}`.',
  },
  IDENTITIES_FULL: {
    text: '{limit} agents already have keys',
    next: 'Revoke keys that are not needed: `sigma keys revoke AGENT`.',
  },
  CURVE_REFUSED: {
    text: 'the broker at {address} does not know the key of this connection',
    next: 'Ask the operator of the broker for a new identity: `sigma keys add` or `sigma keys rotate`.',
    retryable: true,
    exit: 3,
  },
  CURVE_REQUIRED: {
    text: 'the other end of {address} does not speak CURVE',
    next: 'Connect with an identity file to the address of a broker that has keys.',
    retryable: true,
    exit: 3,
  },
  HANDSHAKE_FAILED: {
    text: 'the handshake at {address} failed',
    next: 'Check that the identity file belongs to this broker and that only clients connect there.',
    retryable: true,
    exit: 3,
  },

  // --- wire
  FRAME_CORRUPT: {
    text: 'a frame failed its check ({part})',
    next: 'Send the frame again. If this recurs, look for a buffer that is reused after sending.',
    retryable: true,
  },
  VERSION: {
    text: 'protocol version {got} is not supported (supported: {supported})',
    next: 'Update the older side.',
  },
  TOO_LARGE: {
    text: '{what} of {bytes} bytes exceeds the limit of {limit}',
    next: 'Send less at once: page the request, or share the content as a blob.',
  },
  MALFORMED_PAYLOAD: {
    text: 'the payload cannot be decoded: {detail}',
    next: 'Check that both sides run the same version.',
  },
  PROTOCOL_UNEXPECTED_EVENT: {
    text: '{event} is not expected in state {state}',
    next: 'Send HELLO again; the client library does so by itself.',
  },

  // --- broker and client
  NO_BROKER: {
    text: 'no broker answers at {address}',
    next: 'Start one with `sigma up` or `sigma bus`, or set SIGMA_BUS to its address. Questions about code need no broker with --repo DIR.',
    retryable: true,
    exit: 3,
  },
  BROKER_LOST: {
    text: 'the connection to the broker was lost before the answer came',
    next: 'Ask again; the client reconnects by itself.',
    retryable: true,
    exit: 3,
  },
  BROKER_RUNNING: {
    text: 'another broker owns {path}',
    next: 'Use the running broker (`sigma status`), or set SIGMA_HOME to another folder.',
  },
  ALREADY_SERVED: {
    text: 'the shards of {path} are already served',
    next: 'Ask your questions (`sigma agents` lists the shards). After a change in the tree, run `sigma index {path}`.',
  },
  HOST_BUSY: {
    text: '{limit} questions already wait for memory at the host of this shard',
    next: 'Ask again later, raise --memory of the host, or start more hosts with --hosts.',
    retryable: true,
  },
  BROKER_DRAINING: {
    text: 'the broker is shutting down',
    next: 'Try again in a few seconds.',
    retryable: true,
    exit: 3,
  },
  BROKER_BUSY: {
    text: 'too many requests or messages are open ({limit})',
    next: 'Wait until some of them have ended.',
    retryable: true,
  },
  REGISTRY_FULL: {
    text: 'the broker already knows {limit} agents, all of them online',
    next: 'Stop agents that are not needed, or raise agentsMax.',
    retryable: true,
  },
  SESSIONS_FULL: {
    text: 'the broker already has {limit} sessions',
    next: 'Close unused clients, or raise sessionsMax.',
    retryable: true,
  },
  UNAUTHORISED: {
    text: '{agent} may not act as {role}',
    next: 'Use the SIGMA_HOME of the broker: its key file proves the role.',
  },
  SUPERSEDED: {
    text: 'a newer process took over as {agent}',
    next: 'Stop one of the two processes, or give them different names.',
  },
  INVALID_NAME: {
    text: '"{name}" is not a valid {what}',
    next: 'Use lower-case letters, digits, "_" and "-", at most 96 characters.',
    exit: 2,
  },
  UNKNOWN_AGENT: {
    text: 'there is no agent {agent}',
    next: 'Run `sigma agents` to see the known agents.',
    exit: 3,
  },
  AGENT_OFFLINE: {
    text: 'agent {agent} is registered but not connected',
    next: 'Start it, or wait for its return (`sigma agents`).',
    retryable: true,
    exit: 3,
  },
  AMBIGUOUS_ALIAS: {
    text: 'several agents are called {alias}: {agents}',
    next: 'Address one by its id.',
    exit: 3,
  },
  NO_RESPONDER: {
    text: 'no agent answers for {service}',
    next: 'Start an agent that offers it: `sigma up`, or `sigma agent manager`.',
    retryable: true,
    exit: 3,
  },
  RESPONDER_LOST: {
    text: '{agent} disconnected before it answered',
    next: 'Ask again: the agent restarts, or another one answers.',
    retryable: true,
  },
  PEER_STALLED: {
    text: '{agent} does not read its messages',
    next: 'Ask again later, or restart that agent.',
    retryable: true,
  },
  UNKNOWN_REQUEST: {
    text: 'no open request has the id {id}',
    next: 'Drop the reply: the requester gave up, or already has an answer.',
  },
  UNKNOWN_TYPE: {
    text: '{agent} does not understand requests of type {type}',
    next: 'Check that both sides run the same version.',
  },
  DEADLINE_EXCEEDED: {
    text: 'no answer within {ms} ms',
    next: 'Ask again with a longer deadline.',
    retryable: true,
  },
  CANCELLED: {
    text: 'the request was cancelled',
    next: 'Ask again if the answer is still wanted.',
    retryable: true,
    exit: 130,
  },
  RATE_LIMITED: {
    text: '{agent} exceeds its rate of frames or bytes per second',
    next: 'Send less at once. `permissions` in config.json sets the rate of each role.',
    retryable: true,
  },
  INBOX_FULL: {
    text: 'the mailbox {mailbox} is full ({depth} messages)',
    next: 'Let its agent work, or inspect the mailbox: `sigma inbox`, `sigma dead list`.',
    retryable: true,
  },
  INBOX_EMPTY: {
    text: 'no message waits in {mailbox}',
    next: 'Wait for a message with `sigma receive`.',
    retryable: true,
  },
  OUT_OF_ORDER: {
    text: 'message {id} follows {after}, which was not accepted',
    next: 'Send the earlier one first; the client library does so by itself.',
    retryable: true,
  },
  NO_MAILBOX: {
    text: '{agent} is ephemeral and has no mailbox',
    next: 'Send to a registered agent (`sigma agents`).',
    exit: 3,
  },
  NO_SUCH_MESSAGE: {
    text: 'there is no stored message {message}',
    next: 'The message was settled or never accepted: see `sigma inbox` and `sigma dead list`.',
  },
  STORE_UNAVAILABLE: {
    text: 'the store at {path} cannot be used: {detail}',
    next: 'Check free space and permissions of that folder.',
    retryable: true,
  },
  STORE_LOCKED: {
    text: 'another process owns the store at {path}',
    next: 'Wait for the other process, or stop it.',
    retryable: true,
  },
  JOURNAL_UNAVAILABLE: {
    text: 'queries do not survive a restart of the manager: {detail}',
    next: 'Free space on that disk. A damaged folder may be removed; it holds only queries under way.',
    retryable: true,
  },
  STORE_SCHEMA: {
    text: 'the store at {path} has layout {got}; this version needs {wanted}',
    next: 'Use the version that wrote it, or remove the folder to rebuild it.',
  },
  RECORD_DAMAGED: {
    text: 'the stored record {key} cannot be read: {detail}',
    next: 'Check the disk. All other records are served; `sigma task list` shows the state of the task.',
  },
  STORE_NOT_EMPTY: {
    text: 'the store at {path} is not empty',
    next: 'Add --force to move it aside, or name another home.',
  },
  BACKUP_FOLDER: {
    text: 'cannot write a backup to {path}: {detail}',
    next: 'Name an empty or new folder on the machine of the broker.',
    exit: 2,
  },
  BACKUP_INVALID: {
    text: '{path} is not a backup that can be restored: {detail}',
    next: 'Use another backup; this one is incomplete or was changed.',
  },
  SOCKET_PATH: {
    text: 'the socket address {address} cannot be used: {detail}',
    next: 'Choose a shorter SIGMA_HOME, or set SIGMA_BUS to an ipc:// path of at most 100 bytes in a folder that only you can enter.',
    exit: 2,
  },

  // --- blobs
  BLOB_MISSING: {
    text: '{owner} does not have the blob {sha256}',
    next: 'Ask its owner for a new reference; blobs in memory are kept for a limited time.',
  },
  BLOB_CORRUPT: {
    text: '{owner} sent content that does not match the blob {sha256}',
    next: 'Ask its owner to offer it again: the content changed.',
  },
  HTTP_ADDRESS: {
    text: 'metrics cannot be served at {address}: {detail}',
    next: 'Free that port, or name another one in `http` of config.json or SIGMA_HTTP.',
    retryable: true,
  },

  // --- MCP
  TOOL_INPUT: {
    text: 'the arguments of {tool} are not valid: {detail}',
    next: 'Correct the named argument; see the input schema of the tool.',
    exit: 2,
  },
  MCP_TOKEN: {
    text: 'the bearer token is missing or wrong',
    next: 'Send `Authorization: Bearer TOKEN`; `sigma mcp --http` prints the file that holds the token.',
    exit: 2,
  },
  MCP_ADDRESS: {
    text: 'MCP cannot be served at {address}: {detail}',
    next: 'Free that port, or name another one with --http PORT.',
    retryable: true,
  },

  // --- tasks
  TASK_INVALID: {
    text: 'the task is not valid: {detail}',
    next: 'Correct the named field; `sigma delegate --schema` prints the schema of a task.',
    exit: 2,
  },
  TASK_EXISTS: {
    text: 'another task already has the id {task}',
    next: 'Use another id, or omit it.',
  },
  NO_SUCH_TASK: {
    text: 'there is no task {task}',
    next: 'Run `sigma task list`; finished tasks are kept for a limited time.',
  },
  TASKS_FULL: {
    text: 'the manager already has {limit} open tasks',
    next: 'Wait until some tasks end, or cancel those that are not needed.',
    retryable: true,
  },
  TASK_STATE: {
    text: 'task {task} is {state}; {what} is not possible now',
    next: 'Run `sigma task show {task}` to see the possible commands.',
  },
  TASK_NOT_YOURS: {
    text: '{agent} may not {what} task {task}',
    next: 'Act as the agent that delegated it, or as a person: see `sigma task update --help`.',
  },
  TASK_WAITS: {
    text: 'task {task} waits for a decision: {asks}',
    next: 'Run `sigma task show {task}` to see the commands that decide.',
  },
  TASK_UPDATE_INVALID: {
    text: 'the update of the task list is not valid: {detail}',
    next: 'Correct the named field; nothing was changed. `sigma task update --schema` prints the schema.',
    exit: 2,
  },
  LIST_FULL: {
    text: '{what} already holds {limit}',
    next: 'Complete finished entries: they make room for new ones.',
  },
  GATE_DETECTED: {
    text: 'the action is risky: {detail}',
    next: 'Run `sigma gate` and decide.',
  },
  GATE_EXPIRED: {
    text: 'the gate of task {task} was not judged in time',
    next: 'Delegate the task again, and judge its gate with `sigma gate`.',
  },
  GATE_HALTED: {
    text: '{by} halted the action at {gate}',
    next: 'Delegate the work in another way.',
  },
  GATE_WITHDRAWN: {
    text: '{by} withdrew the whole session at {gate}',
    next: 'Delegate again the work that is still wanted.',
  },
  GATES_EXCEEDED: {
    text: 'task {task} stopped at a gate {limit} times',
    next: 'Split the task, or delegate its risky actions one by one.',
  },
  NO_SUCH_GATE: {
    text: 'there is no gate {gate}',
    next: 'Run `sigma gate list` to see the open gates.',
  },
  GATE_JUDGED: {
    text: 'gate {gate} is already {state}',
    next: 'Run `sigma gate show {gate}` to see how it was judged.',
  },
  GATE_CHANGED: {
    text: 'gate {gate} now asks about another action than the one you judged',
    next: 'Run `sigma gate show {gate}` and judge the action that it shows.',
  },
  GATE_NOT_YOURS: {
    text: '{agent} may not judge gate {gate}',
    next: 'Run `sigma gate`: a person decides.',
  },
  SESSION_NOT_YOURS: {
    text: '{agent} may not delegate in session {session}',
    next: 'Omit the session: approvals then hold for the delegating agent.',
  },
  GRANT_REFUSED: {
    text: 'permission to run the action of task {task} is refused: {detail}',
    next: 'Run `sigma gate`: the action needs a new decision.',
  },
  GRANT_USED: {
    text: 'grant {grant} was already used',
    next: 'Run `sigma gate`: the action needs a new decision.',
  },
  ACTION_CHANGED: {
    text: '{file} of the action of task {task} changed during the start; nothing ran',
    next: 'Delegate it again when its scripts no longer change.',
    retryable: true,
  },
  ATTEND_INVALID: {
    text: 'the session cannot start or take this answer: {detail}',
    next: 'Correct the named field; see `sigma attend --help`.',
    exit: 2,
  },
  ATTEND_STATE: {
    text: 'session {context} is {state}; {what} is not possible now',
    next: 'Run `sigma attend show {context}` to see its question.',
  },
  ATTEND_ASKS: {
    text: 'session {context} waits for your answer: {asks}',
    next: 'Answer with `sigma attend answer {context} CHOICE`, or judge its gates.',
  },
  ATTEND_UNSITUATED: {
    text: 'session {context} ended without convergence: {tasks} completed, and nothing shows that their risk was judged',
    next: 'Run `sigma attend show {context}` and inspect these tasks.',
  },
  ATTEND_WITHDRAWN: {
    text: 'the session of attention was withdrawn',
    next: 'Attend again the intent that is still wanted.',
  },
  ATTEND_EXPIRED: {
    text: 'the question of a session was not answered in time',
    next: 'Attend the intent again; its list of tasks is kept.',
  },
  ATTEND_NOT_YOURS: {
    text: '{agent} may not {what} session {context}',
    next: 'Run `sigma attend answer {context}`: a person decides.',
  },
  NO_SUCH_SESSION: {
    text: 'there is no session {context}',
    next: 'Run `sigma attend list` to see the sessions.',
  },
  SESSION_EXISTS: {
    text: 'session {context} is already open',
    next: 'Run `sigma attend show {context}`, or name another session with --context.',
  },
  ATTEND_FULL: {
    text: '{limit} sessions are already open',
    next: 'Answer or withdraw one: `sigma attend list`.',
    retryable: true,
  },
  STALE_ATTEMPT: {
    text: 'attempt {attempt} at task {task} is over (the current one is {now})',
    next: 'Drop this work: another worker has the task, or it has ended.',
  },
  NO_WORKER: {
    text: 'no worker can do task {task}: {detail}',
    next: 'Start an executor (`sigma up`, `sigma agent executor`); the task waits for it.',
    retryable: true,
  },
  LEASE_EXPIRED: {
    text: 'the worker sent no sign of life',
    next: 'Read the log of that worker. The manager gives the task to another one.',
    retryable: true,
  },
  WORKER_LOST: {
    text: 'worker {agent} disconnected before it answered',
    next: 'Wait: the manager gives the task to another worker.',
    retryable: true,
  },
  TASK_TIMED_OUT: {
    text: 'the task was not finished within {ms} ms',
    next: 'Delegate it again with a longer `limits.timeout_ms`.',
    retryable: true,
  },
  DECISION_EXPIRED: {
    text: 'the decision did not come in time',
    next: 'Delegate the task again and answer its questions: `sigma task list --state deciding,clarifying,blocked`.',
    retryable: true,
  },
  REFUSED: {
    text: 'the result was refused',
    next: 'Read the reason with `sigma task show`, then delegate the task again.',
  },
  EVIDENCE_REFUSED: {
    text: 'the evidence does not support the result: {detail}',
    next: 'Read the findings of each attempt with `sigma task show`.',
  },
  PROTOCOL_MISMATCH: {
    text: 'worker {agent} answered without the required evidence',
    next: 'Update that worker; the task goes to a worker that can ground its answers.',
    retryable: true,
  },
  DEPENDENCY_FAILED: {
    text: 'this task depends on task {task}, which is {state}',
    next: 'Fix that task, then run `sigma task update ID --reassign`.',
  },
  OVERLAYS_MISSING: {
    text: 'none of the overlays {overlays} is built',
    next: 'Build them: `sigma overlay generate`.',
    retryable: true,
  },
  PGC_FAILED: {
    text: 'the PGC did not answer: {detail}',
    next: 'Check `sigma status`, then run `sigma task update ID --reassign`; --relax continues without evidence.',
    retryable: true,
  },
  OUTCOME_UNKNOWN: {
    text: 'the action was interrupted; it may or may not have taken effect',
    next: 'Check its effect, then run `sigma task update ID --outcome done|failed`, or --reassign to run it again.',
  },
  ACTION_FAILED: {
    text: '{program} ended with {detail}',
    next: 'Read its output in the result of the task.',
  },
  ACTION_REFUSED: {
    text: 'the action cannot run: {detail}',
    next: 'Correct the action; `executor` in config.json says what the executor allows.',
  },
  SANDBOX_UNAVAILABLE: {
    text: 'the sandbox that keeps programs from the keys of the bus is not available: {detail}',
    next: 'Install util-linux 2.38 or newer and allow user namespaces (kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0, kernel.apparmor_restrict_unprivileged_userns=0); or accept the risk with `"executor": {"sandbox": "off"}` in config.json.',
  },
  SANDBOX_ROOT: {
    text: 'the root {root} of the executor lies in {folder}, which the sandbox hides',
    next: 'Name another root, or move SIGMA_HOME, the socket or the identity elsewhere.',
    exit: 2,
  },
  NO_RUNNER: {
    text: 'this executor has no runner {runner}: {detail}',
    next: 'Configure it at the executor, or choose another runner.',
  },

  // --- critiques of the results of tasks
  RATIFY_STATE: {
    text: '{artifact} waits for no decision: it is {state}',
    next: 'Read its history: `sigma critic history ARTIFACT`.',
  },
  CRITIQUE_CONDITIONAL: {
    text: 'only a person can accept the result: {detail}',
    next: 'Read each critique with `sigma task show TASK --story`.',
  },
  CRITIQUE_REFUSED: {
    text: 'the critic rejected the result: {detail}',
    next: 'Read each critique with `sigma task show TASK --story`.',
  },
  CRITIC_UNAVAILABLE: {
    text: 'the result was not reviewed: {detail}',
    next: 'Start a critic: `sigma up`, or `sigma agent critic`.',
    retryable: true,
  },

  // --- prompts
  PROMPT_INVALID: {
    text: 'the prompt is not valid: {detail}',
    next: 'Correct the named places; nothing ran. Begin a content line that looks like a command with two slashes.',
    exit: 2,
  },
  NAME_TAKEN: {
    text: 'the queue of {owner} already has an open task named {name}',
    next: 'Use another name, or omit it.',
  },
  QUEUE_FULL: {
    text: '{owner} has {limit} open tasks in its queue',
    next: 'Start some of them and wait, or kill those that are not needed.',
    retryable: true,
  },
  TREE_FULL: {
    text: 'the task {root} already has {limit} tasks below it',
    next: 'Do the rest in one task, or push it from outside after this task ends.',
  },
  SPAWN_DEPTH: {
    text: 'a task at this depth may not push tasks ({depth} of {limit} levels)',
    next: 'Do the work in this task, or push it at the end of the prompt: it then goes into the queue of the parent.',
  },
  QUEUE_EXPIRED: {
    text: 'task {task} was never started',
    next: 'Push it again and start it: `sigma queue run`.',
  },
  QUEUE_NOT_YOURS: {
    text: '{agent} may not use the queue of {owner}',
    next: 'Use your own queue, or act as an operator.',
  },
  NOBODY_LEFT: {
    text: 'no task is left that could answer{from}: {queued} queued, none running',
    next: 'Start the queued tasks, or continue without an answer.',
  },
  PARENT_OVER: {
    text: 'the parent task has ended or restarts: {parent}',
    next: 'Push the task again from a parent that waits for its results.',
  },
  SIBLING_FAILED: {
    text: 'task {task} of the same queue failed',
    next: 'Run `sigma task show {task}` to see why, then push the rest again.',
  },
  KILLED: {
    text: 'killed by {by}',
    next: 'Push it again if it is still wanted.',
  },
  AGENT_DISMISSED: {
    text: 'agent {agent} was dismissed because its task ended',
    next: 'Run `sigma task show {agent}` to see the result.',
  },
  HISTORY_FULL: {
    text: 'the conversation of {task} holds {what}; the limit is {limit}',
    next: 'Split the work: push its parts as tasks.',
  },
  READ_OUTSIDE: {
    text: '{path} lies outside the folder that the agent may read',
    next: 'Name a file inside the folder of the agent.',
    exit: 2,
  },
  READ_MISSING: {
    text: 'there is no file {path}',
    next: 'Check the name; paths start at the folder of the agent.',
  },
  READ_NOT_A_FILE: {
    text: '{path} is not a regular file',
    next: 'Name a file, not a folder, a pipe or a device.',
    exit: 2,
  },
  READ_TOO_LARGE: {
    text: '{path} has {bytes} bytes; the limit is {limit}',
    next: 'Ask for the part you need, or put that part into a file of its own.',
    exit: 2,
  },
  READ_BINARY: {
    text: '{path} is not UTF-8 text',
    next: 'Name a text file.',
    exit: 2,
  },
  READ_UNREADABLE: {
    text: '{path} cannot be read: {detail}',
    next: 'Check its permissions.',
  },

  // --- code and indexes
  REPO_UNREADABLE: {
    text: '{path} cannot be read: {detail}',
    next: 'Name an existing folder that you may read.',
  },
  REPO_EMPTY: {
    text: '{path} holds no source file in a known language',
    next: 'Name the root of a source tree; `sigma index REPO --left-out` lists skipped files and the reasons.',
  },
  PATH_OUTSIDE_ROOT: {
    text: '{path} lies outside {root}',
    next: 'Name a path inside the repository.',
    exit: 2,
  },
  SHARD_PLAN_INVALID: {
    text: 'the shard plan is not valid: {detail}',
    next: 'Use auto, a number, maintainers, codeowners, or a JSON file {"shards":[{"alias":"mm","paths":["mm"]}]}.',
    exit: 2,
  },
  INDEX_MISSING: {
    text: 'there is no index of {path}',
    next: 'Build it: `sigma index {path}`.',
  },
  INDEX_BUILDING: {
    text: 'another process is building the index of {path}',
    next: 'Wait for it; an existing index is served meanwhile.',
    retryable: true,
  },
  WATCH_LIMITED: {
    text: 'file events are not available for {path}: {detail}',
    next: 'Raise the limit (`sysctl fs.inotify.max_user_watches=524288`), or install @parcel/watcher (`npm ci`). Until then the tree is polled, which notices changes later.',
  },
  ALREADY_WATCHED: {
    text: 'process {pid} already watches {path}',
    next: 'Use that one: every host follows the index that it refreshes.',
  },
  INDEX_CHANGED: {
    text: 'the index of {agent} changed during the query',
    next: 'Ask again.',
    retryable: true,
  },
  INDEX_CORRUPT: {
    text: 'the index file {path} is damaged ({detail})',
    next: 'Rebuild it: `sigma index REPO`. Unchanged files are not read again.',
  },
  MINER_FAILED: {
    text: 'a worker failed on {path}: {detail}',
    next: 'Run the command again; finished files are kept.',
    retryable: true,
  },
  NO_SUCH_SYMBOL: {
    text: 'no symbol {symbol} is defined here',
    next: 'Check the spelling, or search with `sigma ask`.',
  },
  NOT_FOUND: {
    text: 'nothing in the index answers the question',
    next: 'Use names, paths or messages from the code base.',
  },
  QUESTION_UNREADABLE: {
    text: 'the question is not text',
    next: 'Ask in UTF-8 text; a log or a stack trace may be part of the question.',
    exit: 2,
  },
  EMPTY_QUESTION: {
    text: 'the question is empty',
    next: 'Ask in words, or name a symbol.',
    exit: 2,
  },
  UNKNOWN_OVERLAY: {
    text: 'there is no overlay {overlay}',
    next: 'Use O1 to O7; `sigma agents --json` shows those that are ready.',
    exit: 2,
  },
  OVERLAY_MISSING: {
    text: 'overlay {overlay} is not built for {agent}',
    next: 'Ask without --overlays, or choose an overlay that is ready.',
  },
  OVERLAY_BUILDING: {
    text: 'overlay {overlay} of {agent} is being built',
    next: 'Ask again in a moment; the other overlays answer now.',
    retryable: true,
  },
  OVERLAY_FAILED: {
    text: 'overlay {overlay} of {agent} could not be built ({reason})',
    next: 'Run `sigma index REPO` to try again; `sigma overlay list` shows all overlays.',
  },
  CITATION_MALFORMED: {
    text: 'this is not a citation: {detail}',
    next: 'Give one citation, or an array of them, with file_path, line_start, line_end and content.',
    exit: 2,
  },
  REPORT_EMPTY: {
    text: 'the report holds no words to search for',
    next: 'Describe the fault in words, or add the log or the stack trace.',
    exit: 2,
  },
  REPORT_UNREADABLE: {
    text: 'the report cannot be read: {detail}',
    next: 'Give UTF-8 text: a description, a log or a stack trace.',
    exit: 2,
  },
  REPORT_MALFORMED: {
    text: 'this line is not a report: {detail}',
    next: 'Give one JSON object per line: {"id":"1","title":"…","description":"…"}.',
    exit: 2,
  },

  // --- embeddings
  EMBEDDING_UNAVAILABLE: {
    text: 'the embedding engine {engine} does not answer: {detail}',
    next: 'Try again; `sigma doctor` finds the cause. Search by words works meanwhile.',
    retryable: true,
  },
  EMBEDDING_REFUSED: {
    text: 'the embedding engine {engine} refused the request: {detail}',
    next: 'Check url, model and keyEnv of `embedding` in config.json; `sigma doctor` tests them.',
  },
  EMBEDDING_INVALID: {
    text: 'the answer of the embedding engine {engine} cannot be used: {detail}',
    next: 'Check that `embedding` in config.json names an embedding model, and run `sigma doctor`.',
  },

  // --- language models
  MODEL_UNAVAILABLE: {
    text: 'the language model {model} does not answer: {detail}',
    next: 'Try again; check `model.url` in config.json, or SIGMA_MODEL_BASE_URL.',
    retryable: true,
  },
  MODEL_REFUSED: {
    text: 'the language model {model} refused the request: {detail}',
    next: 'Check `model` in config.json and the key in SIGMA_MODEL_KEY.',
  },
  MODEL_INVALID: {
    text: 'the answer of the language model {model} cannot be used: {detail}',
    next: 'Try again, or use another model; check that `model.url` in config.json is a chat endpoint.',
    retryable: true,
  },
  MODEL_TRUNCATED: {
    text: 'the answer of the language model {model} was cut off: {detail}',
    next: 'Ask for less at once, or allow longer answers at the endpoint.',
  },
  MODEL_ANSWER_TOO_LARGE: {
    text: 'the answer of the language model {model} exceeds the limit of {max} {what}',
    next: 'Ask for less at once.',
  },
  MODEL_REQUEST_TOO_LARGE: {
    text: 'the language model {model} was not asked: {its} {what} exceed the limit of {max}',
    next: 'Drop old messages of the conversation, or shorten the request.',
  },
  MODEL_CALL_INVALID: {
    text: 'the call of tool {tool} was not run: {detail}',
    next: 'Call it again with its arguments as one JSON object.',
    retryable: true,
  },
  MODEL_BUDGET_SPENT: {
    text: 'this task has used its tokens: {spent} of {max}',
    next: 'Delegate the rest as another task, or grant more tokens.',
  },
  MODEL_BUSY: {
    text: '{limit} requests of this process already wait for the language model {model}',
    next: 'Ask again later, or with --engine extractive.',
    retryable: true,
  },
  MODEL_NO_TIME: {
    text: 'the language model {model} did not answer within {ms} ms',
    next: 'Ask again with a longer deadline.',
    retryable: true,
  },
  MODEL_UNGROUNDED: {
    text: 'no sentence of the language model cites a source that it was given: {dropped} sentences dropped',
    next: 'Delegate the task again, or use another model; `sigma ask` answers without one.',
    retryable: true,
  },

  // --- lattice
  NO_ROUTE: {
    text: 'no dependency path leads from {from} to {to}',
    next: 'Run `sigma lattice topology` to see the dependencies.',
  },
  MAX_HOPS_EXCEEDED: {
    text: 'the path needs more than {limit} agents',
    next: 'Raise --max-hops, or ask closer to the goal with --from.',
  },
  NO_SHARDS: {
    text: 'no PGC agent is online',
    next: 'Start one: `sigma up REPO` or `sigma agent pgc REPO`.',
    retryable: true,
    exit: 3,
  },
  AGENT_FAILED: {
    text: '{agent} failed: {detail}',
    next: 'Ask again; see the log of that agent.',
    retryable: true,
  },

  // --- critic: reviews
  REVIEW_INVALID: {
    text: 'the review is refused: {detail}',
    next: 'Correct the request: see `sigma critic --help`.',
    exit: 2,
  },
  REVIEW_CHANGED: {
    text: 'review {id} was started with another text or other options',
    next: 'Use another id, or omit it.',
  },
  REVIEW_BUSY: {
    text: '{limit} reviews already run or wait at the critic',
    next: 'Ask again when some have ended: `sigma critic list`.',
    retryable: true,
  },
  REVIEW_UNDER_WAY: {
    text: 'review {id} is not finished: {done} of {total} modes are done',
    next: 'Ask again with the id {id} to continue it.',
    retryable: true,
  },
  REVIEW_TIMED_OUT: {
    text: 'the review ran out of time',
    next: 'Give it more time, or use fewer modes.',
    retryable: true,
  },
  MODE_TIMED_OUT: {
    text: 'mode {mode} took longer than {ms} ms; its findings so far are kept',
    next: 'Review a smaller artifact, or use this mode alone.',
    retryable: true,
  },
  MODE_INTERRUPTED: {
    text: 'the critic ended {times} times during mode {mode}, which is not started again',
    next: 'Read its log; review a smaller artifact, or omit this mode.',
  },
  MODE_UNAVAILABLE: {
    text: 'this critic has no mode {mode}',
    next: 'Omit it, or update the critic.',
  },
  GOVERNANCE_VIOLATION: {
    text: 'the artifact breaks a rule of governance at {criticality}',
    next: 'Have a person review it before work continues.',
  },
  HARD_RULE_CONTRADICTED: {
    text: 'the artifact breaks a hard rule',
    next: 'Correct what the finding names: the artifact cannot pass as it is.',
  },
  NO_SUCH_ARTIFACT: {
    text: 'there is no review of {artifact}',
    next: 'Run `sigma critic list` to see the reviewed artifacts.',
  },
  AMBIGUOUS_ARTIFACT: {
    text: 'several artifacts are called {artifact}: {names}',
    next: 'Name it by its full path.',
    exit: 3,
  },
  RATIFY_NOT_YOURS: {
    text: '{agent} may not judge a review',
    next: 'Ratify as an operator: a person decides.',
  },
  ORCHESTRATION_INVALID: {
    text: 'the orchestration is not valid: {detail}',
    next: 'Correct the file at the named line.',
    exit: 2,
  },
  CRITIC_ELSEWHERE: {
    text: 'another critic of this home holds the reviews at {path}',
    next: 'Ask it over the bus (`sigma up`), or wait until it has ended.',
    retryable: true,
  },
} as const satisfies Record<string, Pick<ErrorEntry, 'text' | 'next'> & Partial<ErrorEntry>>;

export type ErrorCode = keyof typeof entries;

const codes = Object.keys(entries) as ErrorCode[];

export const catalogue = Object.fromEntries(
  codes.map((code) => [code, { retryable: false, exit: 1, ...entries[code] }]),
) as Record<ErrorCode, ErrorEntry>;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(catalogue, text);
}
