/**
 * Every error that leaves this program. The code is the interface; the text may improve.
 * `{name}` in a text is filled from the error's data. Retired codes are never used again.
 * Exit codes: 1 the work failed · 2 wrong usage · 3 no broker, or no such agent · 130 interrupted.
 */
export interface ErrorEntry {
  text: string;
  retryable: boolean;
  exit: 1 | 2 | 3 | 130;
  /** What to do next, in the imperative. */
  next: string;
}

export const catalogue = {
  // --- use of the command line and configuration
  USAGE: {
    text: '{detail}',
    retryable: false,
    exit: 2,
    next: 'Run `sigma --help`, or the command with --help.',
  },
  CONFIG_INVALID: {
    text: 'the configuration is not valid: {detail}',
    retryable: false,
    exit: 2,
    next: 'Correct the named setting and start again.',
  },
  UNKNOWN_ERROR_CODE: {
    text: 'there is no error code {code}',
    retryable: false,
    exit: 2,
    next: 'Run `sigma error` without a code to list them all.',
  },
  INTERRUPTED: {
    text: 'interrupted',
    retryable: true,
    exit: 130,
    next: 'Run the command again; finished work is kept.',
  },
  INTERNAL: {
    text: 'an unexpected failure: {detail}',
    retryable: false,
    exit: 1,
    next: 'Run again with SIGMA_LOG=debug and report what it prints.',
  },

  CHILD_FAILED: {
    text: '{name} ended at once with code {code}',
    retryable: false,
    exit: 1,
    next: 'Read its message above.',
  },

  // --- attention
  ATTENTION_POLICY_INVALID: {
    text: 'the attention policy {file} is not valid: {detail}',
    retryable: false,
    exit: 2,
    next: 'Correct the named field; `sigma attend --classify --policy FILE` reads it without a broker.',
  },
  ATTENTION_LINE_INVALID: {
    text: 'line {line} is no action: {detail}',
    retryable: false,
    exit: 2,
    next: 'Write one JSON object a line, with `argv` (a list of words) or `command` (text of a shell).',
  },

  // --- critic: what a review is asked for
  MODE_UNKNOWN: {
    text: "Unknown mode '{mode}'. Available modes: self-refine, steelman, inversion, constitutional, devils-advocate, pre-mortem, fmea, chain-of-verification, llm-as-judge, red-team",
    retryable: false,
    exit: 2,
    next: 'Name modes with commas between them, or leave --mode out.',
  },
  ARTIFACT_REQUIRED: {
    text: 'Artifact path required',
    retryable: false,
    exit: 2,
    next: 'Name it: `sigma critic --artifact PATH`.',
  },
  ARTIFACT_NOT_FOUND: {
    text: "Artifact not found at '{path}'",
    retryable: false,
    exit: 2,
    next: 'Name a file of text that can be read.',
  },
  MODE_ORDER: {
    text: '{detail}',
    retryable: false,
    exit: 2,
    next: 'Name them in another order, or leave --strict-order out: they are put in order then.',
  },
  REVIEW_NOT_PERMITTED: {
    text: '{detail}',
    retryable: false,
    exit: 1,
    next: 'See why with --explain.',
  },
  CRITIC_POLICY_INVALID: {
    text: 'the rules of escalation in {file} are not valid: {detail}',
    retryable: false,
    exit: 2,
    next: 'Correct the named field; `sigma critic --explain --policy FILE` reads it without a review.',
  },
  CRITIC_CONTEXT_INVALID: {
    text: '{file}:{line}:{column}: {detail}',
    retryable: false,
    exit: 2,
    next: 'Correct the named line; `sigma critic --context FILE --explain` reads it without a review.',
  },
  CRITIC_LINE_INVALID: {
    text: 'line {line} is no context vector: {detail}',
    retryable: false,
    exit: 2,
    next: 'Write one JSON object a line: {"id":"1","criticality":"C2","phase":"PH-DESIGN",…}.',
  },

  // --- keys
  KEYS_MISSING: {
    text: 'keys are missing for {address}: {detail}',
    retryable: false,
    exit: 2,
    next: 'At the broker run `sigma keys init`, then `sigma keys add AGENT --role ROLE --out FILE`; name that file in SIGMA_IDENTITY at the client.',
  },
  KEY_FILE_INVALID: {
    text: 'the key file {path} cannot be used: {detail}',
    retryable: false,
    exit: 2,
    next: 'Keep it 0600, and if it is damaged make it anew: `sigma keys rotate`.',
  },
  IDENTITY_EXISTS: {
    text: 'agent {agent} has keys already',
    retryable: false,
    exit: 1,
    next: 'Give it new ones with `sigma keys rotate {agent} --out FILE`.',
  },
  UNKNOWN_IDENTITY: {
    text: 'agent {agent} has no keys',
    retryable: false,
    exit: 1,
    next: 'Run `sigma keys list` to see who has, or `sigma keys add {agent}`.',
  },
  IDENTITIES_FULL: {
    text: 'there are keys of {limit} agents already',
    retryable: false,
    exit: 1,
    next: 'Revoke those that are not needed: `sigma keys revoke AGENT`.',
  },
  CURVE_REFUSED: {
    text: 'the broker at {address} does not know the key of this connection',
    retryable: true,
    exit: 3,
    next: 'Ask its operator for a new identity: `sigma keys add` or `sigma keys rotate`.',
  },
  CURVE_REQUIRED: {
    text: 'the other end of {address} does not speak CURVE',
    retryable: true,
    exit: 3,
    next: 'Connect with an identity file, to the address of a broker that has keys.',
  },
  HANDSHAKE_FAILED: {
    text: 'the handshake at {address} failed',
    retryable: true,
    exit: 3,
    next: 'Check that the identity file is of this broker, and that nothing but clients connects there.',
  },

  // --- wire
  FRAME_CORRUPT: {
    text: 'a frame failed its check ({part})',
    retryable: true,
    exit: 1,
    next: 'Send it again. If it recurs, look for a buffer that is reused after sending.',
  },
  VERSION: {
    text: 'protocol version {got} is not spoken here (supported: {supported})',
    retryable: false,
    exit: 1,
    next: 'Update the older side.',
  },
  TOO_LARGE: {
    text: '{what} of {bytes} bytes exceeds the limit of {limit}',
    retryable: false,
    exit: 1,
    next: 'Send less at once; page the request or name the content by its hash.',
  },
  MALFORMED_PAYLOAD: {
    text: 'the payload could not be understood: {detail}',
    retryable: false,
    exit: 1,
    next: 'Check that both sides run the same version.',
  },
  PROTOCOL_UNEXPECTED_EVENT: {
    text: '{event} is not expected in state {state}',
    retryable: false,
    exit: 1,
    next: 'Greet again with HELLO; the client library does so by itself.',
  },

  // --- broker and client
  NO_BROKER: {
    text: 'no broker answers at {address}',
    retryable: true,
    exit: 3,
    next: 'Start one with `sigma up` or `sigma bus`, or set SIGMA_BUS to where it is; questions about code take --repo DIR without one.',
  },
  BROKER_LOST: {
    text: 'the connection to the broker was lost before an answer came',
    retryable: true,
    exit: 3,
    next: 'Ask again; the client reconnects by itself.',
  },
  BROKER_RUNNING: {
    text: 'another broker owns {path}',
    retryable: false,
    exit: 1,
    next: 'Use the running one (`sigma status`), or set SIGMA_HOME to another folder.',
  },
  ALREADY_SERVED: {
    text: 'the shards of {path} are served already',
    retryable: false,
    exit: 1,
    next: 'Ask away (`sigma agents`); after a change, `sigma index {path}` is enough.',
  },
  HOST_BUSY: {
    text: 'the host of the shard has {limit} questions waiting for memory',
    retryable: true,
    exit: 1,
    next: 'Ask again later, give the host more with --memory, or share the work with --hosts.',
  },
  BROKER_DRAINING: {
    text: 'the broker is shutting down',
    retryable: true,
    exit: 3,
    next: 'Try again in a few seconds.',
  },
  BROKER_BUSY: {
    text: 'too much is open or on its way ({limit})',
    retryable: true,
    exit: 1,
    next: 'Wait for what is open to end before more is asked or sent.',
  },
  REGISTRY_FULL: {
    text: 'the broker already knows {limit} agents, all of them online',
    retryable: true,
    exit: 1,
    next: 'Stop agents that are not needed, or raise agentsMax.',
  },
  SESSIONS_FULL: {
    text: 'the broker already has {limit} sessions',
    retryable: true,
    exit: 1,
    next: 'Close unused clients, or raise sessionsMax.',
  },
  UNAUTHORISED: {
    text: '{agent} may not act as {role}',
    retryable: false,
    exit: 1,
    next: 'Use the SIGMA_HOME of the broker, whose key file proves the role.',
  },
  SUPERSEDED: {
    text: 'a newer process took over as {agent}',
    retryable: false,
    exit: 1,
    next: 'Stop one of the two, or give them different names.',
  },
  INVALID_NAME: {
    text: '"{name}" is not a valid {what}',
    retryable: false,
    exit: 2,
    next: 'Use lower case letters, digits, "_" and "-", at most 96 characters.',
  },
  UNKNOWN_AGENT: {
    text: 'there is no agent {agent}',
    retryable: false,
    exit: 3,
    next: 'Run `sigma agents` to see who is there.',
  },
  AGENT_OFFLINE: {
    text: 'agent {agent} is registered but not connected',
    retryable: true,
    exit: 3,
    next: 'Start it, or wait for its return (`sigma agents`).',
  },
  AMBIGUOUS_ALIAS: {
    text: 'several agents are called {alias}: {agents}',
    retryable: false,
    exit: 3,
    next: 'Address one by its id.',
  },
  NO_RESPONDER: {
    text: 'nobody answers for {service}',
    retryable: true,
    exit: 3,
    next: 'Start an agent that offers it (`sigma up`, `sigma agent manager`).',
  },
  RESPONDER_LOST: {
    text: '{agent} went away before it answered',
    retryable: true,
    exit: 1,
    next: 'Ask again; the agent is restarted or another answers.',
  },
  PEER_STALLED: {
    text: '{agent} does not read its messages',
    retryable: true,
    exit: 1,
    next: 'Ask again later, or restart that agent.',
  },
  UNKNOWN_REQUEST: {
    text: 'no open request has the id {id}',
    retryable: false,
    exit: 1,
    next: 'The requester gave up or was answered already; drop the reply.',
  },
  UNKNOWN_TYPE: {
    text: '{agent} does not understand requests of type {type}',
    retryable: false,
    exit: 1,
    next: 'Check that both sides run the same version.',
  },
  DEADLINE_EXCEEDED: {
    text: 'no answer within {ms} ms',
    retryable: true,
    exit: 1,
    next: 'Ask again with a longer deadline.',
  },
  CANCELLED: {
    text: 'the request was cancelled',
    retryable: true,
    exit: 130,
    next: 'Ask again if the answer is still wanted.',
  },
  RATE_LIMITED: {
    text: '{agent} says more than it may in a second',
    retryable: true,
    exit: 1,
    next: 'Send less at once; `permissions` in config.json sets the rate of each role.',
  },
  INBOX_FULL: {
    text: 'the mailbox {mailbox} is full ({depth} messages)',
    retryable: true,
    exit: 1,
    next: 'Let its agent work, or look at it with `sigma inbox` and `sigma dead list`.',
  },
  INBOX_EMPTY: {
    text: 'no message waits in {mailbox}',
    retryable: true,
    exit: 1,
    next: 'Wait for one with `sigma receive`.',
  },
  OUT_OF_ORDER: {
    text: 'message {id} was sent behind {after}, which was not accepted',
    retryable: true,
    exit: 1,
    next: 'Send the earlier one first; the client library does so by itself.',
  },
  NO_MAILBOX: {
    text: '{agent} leaves without a trace and has no mailbox',
    retryable: false,
    exit: 3,
    next: 'Send to an agent that is registered for good (`sigma agents`).',
  },
  NO_SUCH_MESSAGE: {
    text: 'no stored message {message} is known here',
    retryable: false,
    exit: 1,
    next: 'It was settled or never accepted; see `sigma inbox` and `sigma dead list`.',
  },
  STORE_UNAVAILABLE: {
    text: 'the store at {path} cannot be used: {detail}',
    retryable: true,
    exit: 1,
    next: 'Check free space and permissions of that folder.',
  },
  STORE_LOCKED: {
    text: 'another process owns the store at {path}',
    retryable: true,
    exit: 1,
    next: 'Wait for the other process, or stop it.',
  },
  JOURNAL_UNAVAILABLE: {
    text: 'queries are answered, but do not survive a restart of the manager: {detail}',
    retryable: true,
    exit: 1,
    next: 'Give that disk free space; a damaged folder may be removed, it holds nothing but queries under way.',
  },
  STORE_SCHEMA: {
    text: 'the store at {path} has layout {got}, this version needs {wanted}',
    retryable: false,
    exit: 1,
    next: 'Use the version that wrote it, or remove the folder to build it anew.',
  },
  RECORD_DAMAGED: {
    text: 'the record {key} of a store cannot be read: {detail}',
    retryable: false,
    exit: 1,
    next: 'The other records are served. Look at the disk; `sigma task list` tells what became of the task.',
  },
  STORE_NOT_EMPTY: {
    text: 'the store at {path} holds entries',
    retryable: false,
    exit: 1,
    next: 'Add --force to move it aside, or name another home.',
  },
  BACKUP_FOLDER: {
    text: 'no backup can be made in {path}: {detail}',
    retryable: false,
    exit: 2,
    next: 'Name a folder that is empty or does not exist yet, on the machine of the broker.',
  },
  BACKUP_INVALID: {
    text: '{path} is not a backup that can be restored: {detail}',
    retryable: false,
    exit: 1,
    next: 'Use another backup; this one was cut short or changed since.',
  },
  SOCKET_PATH: {
    text: 'the socket address {address} cannot be used: {detail}',
    retryable: false,
    exit: 2,
    next: 'Choose a shorter SIGMA_HOME, or set SIGMA_BUS to an ipc:// path of at most 100 bytes in a folder that only you can enter.',
  },

  // --- blobs
  BLOB_MISSING: {
    text: '{owner} does not have the blob {sha256}',
    retryable: false,
    exit: 1,
    next: 'Ask its owner for a new reference; what is offered from memory is kept for a while only.',
  },
  BLOB_CORRUPT: {
    text: 'what {owner} sent is not the blob {sha256}',
    retryable: false,
    exit: 1,
    next: 'Have it offered again: its content changed after it was named.',
  },

  HTTP_ADDRESS: {
    text: 'metrics cannot be served at {address}: {detail}',
    retryable: true,
    exit: 1,
    next: 'Free that port, or name another one in `http` of config.json or SIGMA_HTTP.',
  },

  // --- MCP
  TOOL_INPUT: {
    text: 'the arguments of {tool} are not valid: {detail}',
    retryable: false,
    exit: 2,
    next: 'Correct the named argument; the input schema of the tool says what it takes.',
  },
  MCP_TOKEN: {
    text: 'the bearer token is missing or wrong',
    retryable: false,
    exit: 2,
    next: 'Send `Authorization: Bearer TOKEN`; the token is in the file that `sigma mcp --http` names.',
  },
  MCP_ADDRESS: {
    text: 'MCP cannot be served at {address}: {detail}',
    retryable: true,
    exit: 1,
    next: 'Free that port, or name another one with --http PORT.',
  },

  // --- tasks
  TASK_INVALID: {
    text: 'the task is not valid: {detail}',
    retryable: false,
    exit: 2,
    next: 'Correct the named field; `sigma delegate --schema` prints what a task may hold.',
  },
  TASK_EXISTS: {
    text: 'there is another task {task}',
    retryable: false,
    exit: 1,
    next: 'Give it another id, or none.',
  },
  NO_SUCH_TASK: {
    text: 'no task {task} is known here',
    retryable: false,
    exit: 1,
    next: 'Run `sigma task list` to see which there are; finished ones are kept for a while only.',
  },
  TASKS_FULL: {
    text: 'the manager already has {limit} open tasks',
    retryable: true,
    exit: 1,
    next: 'Wait until some are finished, or cancel those that nobody needs.',
  },
  TASK_STATE: {
    text: 'task {task} is {state}; {what} is not possible now',
    retryable: false,
    exit: 1,
    next: 'Run `sigma task show {task}`: it says what may be said to it.',
  },
  TASK_NOT_YOURS: {
    text: '{agent} may not {what} task {task}',
    retryable: false,
    exit: 1,
    next: 'Whoever delegated it may, or a person: see `sigma task update --help`.',
  },
  TASK_WAITS: {
    text: 'task {task} waits for somebody: {asks}',
    retryable: false,
    exit: 1,
    next: 'Run `sigma task show {task}`: it says which commands decide.',
  },
  TASK_UPDATE_INVALID: {
    text: 'the update of the list is not valid: {detail}',
    retryable: false,
    exit: 2,
    next: 'Correct what is named; nothing of it was taken over. `sigma task update --schema` prints what it may hold.',
  },
  LIST_FULL: {
    text: '{what} already holds {limit}',
    retryable: false,
    exit: 1,
    next: 'Complete what is done: completed entries make room for new ones.',
  },
  GATE_DETECTED: {
    text: 'what is to be done is risky: {detail}',
    retryable: false,
    exit: 1,
    next: 'Run `sigma gate`: a person decides.',
  },
  GATE_EXPIRED: {
    text: 'nobody judged the risk of task {task} in time',
    retryable: false,
    exit: 1,
    next: 'Delegate it again, and judge its gate with `sigma gate`.',
  },
  GATE_HALTED: {
    text: '{by} halted it at {gate}',
    retryable: false,
    exit: 1,
    next: 'Delegate another way to do it.',
  },
  GATE_WITHDRAWN: {
    text: '{by} withdrew the whole session at {gate}',
    retryable: false,
    exit: 1,
    next: 'Delegate what is still wanted anew.',
  },
  GATES_EXCEEDED: {
    text: 'task {task} stopped for a judgement {limit} times',
    retryable: false,
    exit: 1,
    next: 'Split the task, or delegate its risky actions one by one.',
  },
  NO_SUCH_GATE: {
    text: 'no gate {gate} is known here',
    retryable: false,
    exit: 1,
    next: 'Run `sigma gate list` to see which are open.',
  },
  GATE_JUDGED: {
    text: 'gate {gate} is {state} already',
    retryable: false,
    exit: 1,
    next: 'Run `sigma gate show {gate}` to see how it was judged.',
  },
  GATE_CHANGED: {
    text: 'gate {gate} asks about another action than the one that was judged',
    retryable: false,
    exit: 1,
    next: 'Run `sigma gate show {gate}` and judge what it shows.',
  },
  GATE_NOT_YOURS: {
    text: '{agent} may not judge gate {gate}',
    retryable: false,
    exit: 1,
    next: 'A person decides: run `sigma gate`.',
  },
  SESSION_NOT_YOURS: {
    text: '{agent} may not delegate in session {session}',
    retryable: false,
    exit: 1,
    next: 'Leave the session out: approvals are then remembered for the agent that delegates.',
  },
  GRANT_REFUSED: {
    text: 'leave to run the action of task {task} is refused: {detail}',
    retryable: false,
    exit: 1,
    next: 'The action is judged anew: see `sigma gate`.',
  },
  GRANT_USED: {
    text: 'grant {grant} was used already',
    retryable: false,
    exit: 1,
    next: 'The action is judged anew: see `sigma gate`.',
  },
  ACTION_CHANGED: {
    text: '{file} of the action of task {task} changed while it was being started; nothing was run',
    retryable: true,
    exit: 1,
    next: 'Delegate it again when nobody works on its scripts.',
  },
  ATTEND_INVALID: {
    text: 'the session cannot be begun or answered so: {detail}',
    retryable: false,
    exit: 2,
    next: 'Correct the named field; `sigma attend --help` shows the forms.',
  },
  ATTEND_STATE: {
    text: 'session {context} is {state}; {what} is not possible now',
    retryable: false,
    exit: 1,
    next: 'Run `sigma attend show {context}`: it says what is asked.',
  },
  ATTEND_ASKS: {
    text: 'session {context} waits for a person: {asks}',
    retryable: false,
    exit: 1,
    next: 'Answer with `sigma attend answer {context} CHOICE`, or judge its gates.',
  },
  ATTEND_UNSITUATED: {
    text: 'session {context} ended without convergence: {tasks} completed, and nothing says that their risk was judged',
    retryable: false,
    exit: 1,
    next: 'Run `sigma attend show {context}` and look at what they did.',
  },
  ATTEND_WITHDRAWN: {
    text: 'the session of attention was withdrawn',
    retryable: false,
    exit: 1,
    next: 'Attend what is still wanted anew.',
  },
  ATTEND_EXPIRED: {
    text: 'nobody answered the question of a session in time',
    retryable: false,
    exit: 1,
    next: 'Attend it anew; its list of tasks is kept.',
  },
  ATTEND_NOT_YOURS: {
    text: '{agent} may not {what} session {context}',
    retryable: false,
    exit: 1,
    next: 'A person decides: run `sigma attend answer {context}`.',
  },
  NO_SUCH_SESSION: {
    text: 'no session {context} is known here',
    retryable: false,
    exit: 1,
    next: 'Run `sigma attend list`.',
  },
  SESSION_EXISTS: {
    text: 'session {context} is open already',
    retryable: false,
    exit: 1,
    next: 'Run `sigma attend show {context}`, or name another one with --context.',
  },
  ATTEND_FULL: {
    text: 'already {limit} sessions are open',
    retryable: true,
    exit: 1,
    next: 'Answer or withdraw one: `sigma attend list`.',
  },
  STALE_ATTEMPT: {
    text: 'attempt {attempt} at task {task} is over (the last one is {now})',
    retryable: false,
    exit: 1,
    next: 'Drop this work: somebody else has the task, or it is finished.',
  },
  NO_WORKER: {
    text: 'nobody is there who could do task {task}: {detail}',
    retryable: true,
    exit: 1,
    next: 'Start an executor (`sigma up`, `sigma agent executor`); the task waits for it.',
  },
  LEASE_EXPIRED: {
    text: 'the worker gave no sign of life',
    retryable: true,
    exit: 1,
    next: 'The task is given to somebody else by itself; look at the log of that worker.',
  },
  WORKER_LOST: {
    text: 'worker {agent} went away before it answered',
    retryable: true,
    exit: 1,
    next: 'The task is given to somebody else by itself.',
  },
  TASK_TIMED_OUT: {
    text: 'the task was not finished within {ms} ms',
    retryable: true,
    exit: 1,
    next: 'Delegate it again with a longer `limits.timeout_ms`.',
  },
  DECISION_EXPIRED: {
    text: 'nobody decided about it in time',
    retryable: true,
    exit: 1,
    next: 'Delegate it again, and answer what it asks: `sigma task list --state deciding,clarifying,blocked`.',
  },
  REFUSED: {
    text: 'the result was refused',
    retryable: false,
    exit: 1,
    next: 'Read why with `sigma task show`, and delegate it anew.',
  },
  EVIDENCE_REFUSED: {
    text: 'the evidence does not hold: {detail}',
    retryable: false,
    exit: 1,
    next: 'See the findings of each attempt with `sigma task show`.',
  },
  PROTOCOL_MISMATCH: {
    text: 'worker {agent} answered without the evidence that was asked for',
    retryable: true,
    exit: 1,
    next: 'Update that worker; the task goes to one that knows grounding.',
  },
  DEPENDENCY_FAILED: {
    text: 'task {task}, which this one depends on, is {state}',
    retryable: false,
    exit: 1,
    next: 'Mend that one, then `sigma task update ID --reassign`.',
  },
  OVERLAYS_MISSING: {
    text: 'none of the overlays {overlays} is there',
    retryable: true,
    exit: 1,
    next: 'Generate them: `sigma overlay generate`.',
  },
  PGC_FAILED: {
    text: 'the PGC could not be asked: {detail}',
    retryable: true,
    exit: 1,
    next: 'See `sigma status`; then `sigma task update ID --reassign`, or --relax to do without evidence.',
  },
  OUTCOME_UNKNOWN: {
    text: 'the action was interrupted, and whether it had its effect is not known',
    retryable: false,
    exit: 1,
    next: 'Look for its effect, then `sigma task update ID --outcome done|failed`, or --reassign to run it again.',
  },
  ACTION_FAILED: {
    text: '{program} ended with {detail}',
    retryable: false,
    exit: 1,
    next: 'Its output is in the result of the task.',
  },
  ACTION_REFUSED: {
    text: 'the action cannot be run: {detail}',
    retryable: false,
    exit: 1,
    next: 'Correct the action; see what the executor allows with `sigma config explain`.',
  },
  SANDBOX_UNAVAILABLE: {
    text: 'programs cannot be kept away from the keys of the bus here: {detail}',
    retryable: false,
    exit: 1,
    next: 'Install util-linux 2.38 or newer and allow user namespaces (kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0, kernel.apparmor_restrict_unprivileged_userns=0); or accept the risk with `"executor": {"sandbox": "off"}` in config.json.',
  },
  SANDBOX_ROOT: {
    text: 'the root {root} of the executor lies in {folder}, which programs must not see',
    retryable: false,
    exit: 2,
    next: 'Name another root, or move SIGMA_HOME, the socket or the identity out of its way.',
  },
  NO_RUNNER: {
    text: 'this executor has no runner {runner}: {detail}',
    retryable: false,
    exit: 1,
    next: 'Configure it at the executor, or choose another runner.',
  },

  // --- critiques of the results of tasks
  RATIFY_STATE: {
    text: 'nobody is asked about {artifact}: it is {state}',
    retryable: false,
    exit: 1,
    next: 'See what was found: `sigma critic history ARTIFACT`.',
  },
  CRITIQUE_CONDITIONAL: {
    text: 'the result is accepted by a person only: {detail}',
    retryable: false,
    exit: 1,
    next: 'See each critique with `sigma task show TASK --story`.',
  },
  CRITIQUE_REFUSED: {
    text: 'the result does not stand up to its critique: {detail}',
    retryable: false,
    exit: 1,
    next: 'See each critique with `sigma task show TASK --story`.',
  },
  CRITIC_UNAVAILABLE: {
    text: 'the result was not reviewed: {detail}',
    retryable: true,
    exit: 1,
    next: 'Start a critic: `sigma up`, or `sigma agent critic`.',
  },

  // --- prompts
  PROMPT_INVALID: {
    text: 'the prompt is not valid: {detail}',
    retryable: false,
    exit: 2,
    next: 'Correct the named places; nothing was run. A line of the content that begins like a command is written with two slashes.',
  },
  NAME_TAKEN: {
    text: 'an open task of the queue of {owner} is called {name} already',
    retryable: false,
    exit: 1,
    next: 'Give it another name, or none.',
  },
  QUEUE_FULL: {
    text: '{owner} has {limit} open tasks in its queue',
    retryable: true,
    exit: 1,
    next: 'Start and await some of them, or kill what nobody needs.',
  },
  TREE_FULL: {
    text: 'below {root} there were {limit} tasks already',
    retryable: false,
    exit: 1,
    next: 'Do the rest in one task, or push it from outside when this one is over.',
  },
  SPAWN_DEPTH: {
    text: 'a task that was pushed by a task so deep may push none: {depth} of {limit} levels',
    retryable: false,
    exit: 1,
    next: 'Do the work yourself, or leave it to the teardown: it goes into the queue of the parent.',
  },
  QUEUE_EXPIRED: {
    text: 'task {task} was never started',
    retryable: false,
    exit: 1,
    next: 'Push it again, and start it: `sigma queue run`.',
  },
  QUEUE_NOT_YOURS: {
    text: 'the queue of {owner} is not that of {agent}',
    retryable: false,
    exit: 1,
    next: 'Ask for your own, or as an operator.',
  },
  NOBODY_LEFT: {
    text: 'nobody is left who could answer{from}: {queued} queued, none under way',
    retryable: false,
    exit: 1,
    next: 'Start what is queued, or go on without an answer.',
  },
  PARENT_OVER: {
    text: 'the task that pushed it is over, or begins anew: {parent}',
    retryable: false,
    exit: 1,
    next: 'Push it from a task that waits for its results.',
  },
  SIBLING_FAILED: {
    text: 'task {task} of the same queue failed for good',
    retryable: false,
    exit: 1,
    next: 'See why: `sigma task show {task}`; then push the rest again.',
  },
  KILLED: {
    text: 'killed by {by}',
    retryable: false,
    exit: 1,
    next: 'Push it again if it is still wanted.',
  },
  AGENT_DISMISSED: {
    text: 'agent {agent} was dismissed with its task',
    retryable: false,
    exit: 1,
    next: 'See what became of it: `sigma task show {agent}`.',
  },
  HISTORY_FULL: {
    text: 'the conversation of {task} holds {what}, at most {limit}',
    retryable: false,
    exit: 1,
    next: 'Divide the work: push its parts as tasks of their own.',
  },
  READ_OUTSIDE: {
    text: '{path} lies outside of the folder that may be read',
    retryable: false,
    exit: 2,
    next: 'Name a file below the folder of the agent.',
  },
  READ_MISSING: {
    text: 'there is no file {path}',
    retryable: false,
    exit: 1,
    next: 'Check its name; paths start at the folder of the agent.',
  },
  READ_NOT_A_FILE: {
    text: '{path} is no regular file',
    retryable: false,
    exit: 2,
    next: 'Name a file, not a folder, a pipe or a device.',
  },
  READ_TOO_LARGE: {
    text: '{path} has {bytes} bytes, and {limit} may be read',
    retryable: false,
    exit: 2,
    next: 'Ask for what is needed of it, or read a part that stands in a file of its own.',
  },
  READ_BINARY: {
    text: '{path} is no text in UTF-8',
    retryable: false,
    exit: 2,
    next: 'Name a text file.',
  },
  READ_UNREADABLE: {
    text: '{path} cannot be read: {detail}',
    retryable: false,
    exit: 1,
    next: 'Check its permissions.',
  },

  // --- code and indexes
  REPO_UNREADABLE: {
    text: '{path} cannot be read: {detail}',
    retryable: false,
    exit: 1,
    next: 'Name a folder that exists and that you may read.',
  },
  REPO_EMPTY: {
    text: '{path} holds no source file in a known language',
    retryable: false,
    exit: 1,
    next: 'Name the root of a source tree; `sigma index REPO --left-out` lists what is not read, and why.',
  },
  PATH_OUTSIDE_ROOT: {
    text: '{path} lies outside {root}',
    retryable: false,
    exit: 2,
    next: 'Name a path inside the repository.',
  },
  SHARD_PLAN_INVALID: {
    text: 'the shard plan is not valid: {detail}',
    retryable: false,
    exit: 2,
    next: 'Use auto, a number, maintainers, codeowners, or a JSON file {"shards":[{"alias":"mm","paths":["mm"]}]}.',
  },
  INDEX_MISSING: {
    text: 'there is no index of {path}',
    retryable: false,
    exit: 1,
    next: 'Build it: `sigma index {path}`.',
  },
  INDEX_BUILDING: {
    text: 'the index of {path} is being built by another process',
    retryable: true,
    exit: 1,
    next: 'Wait for it; the old index, if any, is still served.',
  },
  WATCH_LIMITED: {
    text: '{path} cannot be watched by events: {detail}',
    retryable: false,
    exit: 1,
    next: 'It is looked through instead, which is slower to notice. Raise the limit (`sysctl fs.inotify.max_user_watches=524288`), or install @parcel/watcher (`npm ci`).',
  },
  ALREADY_WATCHED: {
    text: '{path} is watched already, by process {pid}',
    retryable: false,
    exit: 1,
    next: 'One watcher is enough: every host follows the index that it refreshes.',
  },
  INDEX_CHANGED: {
    text: 'the index of {agent} has changed since it was last asked what it holds',
    retryable: true,
    exit: 1,
    next: 'Ask again; what it holds now is known by then.',
  },
  INDEX_CORRUPT: {
    text: 'the index file {path} is damaged ({detail})',
    retryable: false,
    exit: 1,
    next: 'Build it again: `sigma index REPO`. Mined facts are reused.',
  },
  MINER_FAILED: {
    text: 'a worker failed while reading {path}: {detail}',
    retryable: true,
    exit: 1,
    next: 'Run the command again; finished files are kept.',
  },
  NO_SUCH_SYMBOL: {
    text: 'no symbol {symbol} is defined here',
    retryable: false,
    exit: 1,
    next: 'Check the spelling; search with `sigma ask`.',
  },
  NOT_FOUND: {
    text: 'nothing here answers the question',
    retryable: false,
    exit: 1,
    next: 'Use words of the code base: names, paths, messages.',
  },
  QUESTION_UNREADABLE: {
    text: 'the question is not text',
    retryable: false,
    exit: 2,
    next: 'Ask in words, in UTF-8; a log or a stack trace may be part of the question.',
  },
  EMPTY_QUESTION: {
    text: 'the question is empty',
    retryable: false,
    exit: 2,
    next: 'Ask in words, or name a symbol.',
  },
  UNKNOWN_OVERLAY: {
    text: 'there is no overlay {overlay}',
    retryable: false,
    exit: 2,
    next: 'Overlays are O1 to O7; `sigma agents --json` shows which are ready.',
  },
  OVERLAY_MISSING: {
    text: 'overlay {overlay} is not built for {agent}',
    retryable: false,
    exit: 1,
    next: 'Ask without --overlays, or choose one that is ready.',
  },
  OVERLAY_BUILDING: {
    text: 'overlay {overlay} of {agent} is being built',
    retryable: true,
    exit: 1,
    next: 'Ask again in a moment; the other overlays answer meanwhile.',
  },
  OVERLAY_FAILED: {
    text: 'overlay {overlay} of {agent} could not be built ({reason})',
    retryable: false,
    exit: 1,
    next: 'Look at all with `sigma overlay list`; `sigma index REPO` tries again.',
  },
  CITATION_MALFORMED: {
    text: 'this is not a citation: {detail}',
    retryable: false,
    exit: 2,
    next: 'Give one citation or an array, with file_path, line_start, line_end and content.',
  },
  REPORT_EMPTY: {
    text: 'the report holds nothing that could be looked for',
    retryable: false,
    exit: 2,
    next: 'Describe the fault in words, or give the log or the stack trace.',
  },
  REPORT_UNREADABLE: {
    text: 'the report cannot be read: {detail}',
    retryable: false,
    exit: 2,
    next: 'Give a text in UTF-8: a description, a log, a stack trace.',
  },
  REPORT_MALFORMED: {
    text: 'this line is not a report: {detail}',
    retryable: false,
    exit: 2,
    next: 'Give one JSON object a line: {"id":"1","title":"…","description":"…"}.',
  },

  // --- embeddings
  EMBEDDING_UNAVAILABLE: {
    text: 'the embedding engine {engine} does not answer: {detail}',
    retryable: true,
    exit: 1,
    next: 'Try again; `sigma doctor` says what is wrong. Search by words works meanwhile.',
  },
  EMBEDDING_REFUSED: {
    text: 'the embedding engine {engine} refuses: {detail}',
    retryable: false,
    exit: 1,
    next: 'Check url, model and keyEnv of `embedding` in config.json; `sigma doctor` tries them.',
  },
  EMBEDDING_INVALID: {
    text: 'what the embedding engine {engine} answers cannot be used: {detail}',
    retryable: false,
    exit: 1,
    next: 'Check that `embedding` in config.json names a model for embeddings, and run `sigma doctor`.',
  },

  // --- language models
  MODEL_UNAVAILABLE: {
    text: 'the language model {model} does not answer: {detail}',
    retryable: true,
    exit: 1,
    next: 'Try again; check `model.url` in config.json, or SIGMA_MODEL_BASE_URL.',
  },
  MODEL_REFUSED: {
    text: 'the language model {model} refuses: {detail}',
    retryable: false,
    exit: 1,
    next: 'Check `model` in config.json and the key in SIGMA_MODEL_KEY.',
  },
  MODEL_INVALID: {
    text: 'what the language model {model} answers cannot be used: {detail}',
    retryable: true,
    exit: 1,
    next: 'Try again, or with another model; check that `model.url` in config.json is an endpoint for chats.',
  },
  MODEL_TRUNCATED: {
    text: 'the answer of the language model {model} ends before its end: {detail}',
    retryable: false,
    exit: 1,
    next: 'Ask for less at once, or let the endpoint answer at greater length.',
  },
  MODEL_ANSWER_TOO_LARGE: {
    text: 'the answer of the language model {model} was cut: it has more than {max} {what}',
    retryable: false,
    exit: 1,
    next: 'Ask for less at once.',
  },
  MODEL_REQUEST_TOO_LARGE: {
    text: 'the language model {model} was not asked: {its} {what} exceed the limit of {max}',
    retryable: false,
    exit: 1,
    next: 'Leave out what was said long ago, or shorten it.',
  },
  MODEL_CALL_INVALID: {
    text: 'the call of the tool {tool} was not run: {detail}',
    retryable: true,
    exit: 1,
    next: 'Call it again, with its arguments as one JSON object.',
  },
  MODEL_BUDGET_SPENT: {
    text: 'the tokens of this task are spent: {spent} of {max}',
    retryable: false,
    exit: 1,
    next: 'Delegate what is left as a task of its own, or grant more tokens.',
  },
  MODEL_BUSY: {
    text: 'the language model {model} was not asked: {limit} requests of this process wait for it already',
    retryable: true,
    exit: 1,
    next: 'Ask again later, or with --engine extractive.',
  },
  MODEL_NO_TIME: {
    text: 'the language model {model} has not answered in the {ms} ms that a question had left for it',
    retryable: true,
    exit: 1,
    next: 'Ask again with a longer deadline.',
  },
  MODEL_UNGROUNDED: {
    text: 'nothing that the language model said cites a source that it was given: {dropped} sentences dropped',
    retryable: true,
    exit: 1,
    next: 'Delegate it again, or to another model; `sigma ask` answers without one.',
  },

  // --- lattice
  NO_ROUTE: {
    text: 'no dependency path leads from {from} to {to}',
    retryable: false,
    exit: 1,
    next: 'See `sigma lattice topology`.',
  },
  MAX_HOPS_EXCEEDED: {
    text: 'the path needs more than {limit} agents',
    retryable: false,
    exit: 1,
    next: 'Raise --max-hops, or ask closer to the goal with --from.',
  },
  NO_SHARDS: {
    text: 'no PGC agent is online',
    retryable: true,
    exit: 3,
    next: 'Start one: `sigma up REPO` or `sigma agent pgc REPO`.',
  },
  AGENT_FAILED: {
    text: '{agent} failed: {detail}',
    retryable: true,
    exit: 1,
    next: 'Ask again; see the log of that agent.',
  },

  // --- critic: reviews
  REVIEW_INVALID: {
    text: 'the review is refused: {detail}',
    retryable: false,
    exit: 2,
    next: 'Correct it: see `sigma critic --help`.',
  },
  REVIEW_CHANGED: {
    text: 'review {id} was begun with another text or other wishes',
    retryable: false,
    exit: 1,
    next: 'Ask under another id, or leave the id out.',
  },
  REVIEW_BUSY: {
    text: 'the critic has {limit} reviews under way or waiting already',
    retryable: true,
    exit: 1,
    next: 'Ask again when some of them are over: `sigma critic list`.',
  },
  REVIEW_UNDER_WAY: {
    text: 'the review {id} is not over yet: {done} of {total} modes are',
    retryable: true,
    exit: 1,
    next: 'Ask again for the same under the id {id}: it goes on where it is.',
  },
  REVIEW_TIMED_OUT: {
    text: 'the time for the whole review was over',
    retryable: true,
    exit: 1,
    next: 'Give it more time, or review with fewer modes.',
  },
  MODE_TIMED_OUT: {
    text: 'the mode {mode} took longer than {ms} ms; what it had found until then is kept',
    retryable: true,
    exit: 1,
    next: 'Review a smaller artifact, or apply this mode alone.',
  },
  MODE_INTERRUPTED: {
    text: 'the critic ended {times} times while it was in the mode {mode}, which is not begun again',
    retryable: false,
    exit: 1,
    next: 'See its log; review a smaller artifact, or without this mode.',
  },
  MODE_UNAVAILABLE: {
    text: 'this critic has no mode {mode}',
    retryable: false,
    exit: 1,
    next: 'Leave it out, or use a newer version.',
  },
  GOVERNANCE_VIOLATION: {
    text: 'the artifact breaks a rule of governance at {criticality}',
    retryable: false,
    exit: 1,
    next: 'A person has to look at it before anything goes on.',
  },
  HARD_RULE_CONTRADICTED: {
    text: 'the artifact contradicts a rule that must not be broken',
    retryable: false,
    exit: 1,
    next: 'Correct what the finding names: the artifact cannot pass as it is.',
  },
  NO_SUCH_ARTIFACT: {
    text: 'nothing is known of a review of {artifact}',
    retryable: false,
    exit: 1,
    next: 'See what is: `sigma critic list`.',
  },
  AMBIGUOUS_ARTIFACT: {
    text: 'several artifacts are called {artifact}: {names}',
    retryable: false,
    exit: 3,
    next: 'Name one by its whole path.',
  },
  RATIFY_NOT_YOURS: {
    text: '{agent} may not judge a review',
    retryable: false,
    exit: 1,
    next: 'A person decides, as an operator.',
  },
  ORCHESTRATION_INVALID: {
    text: 'the orchestration is refused: {detail}',
    retryable: false,
    exit: 2,
    next: 'Correct the file at the line that is named.',
  },
  CRITIC_ELSEWHERE: {
    text: 'a critic of this home holds its reviews at {path}',
    retryable: true,
    exit: 1,
    next: 'Ask it over the bus (`sigma up`), or wait until it has ended.',
  },
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof catalogue;

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(catalogue, text);
}
