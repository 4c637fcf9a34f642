// What of the suite does not apply to our server, and why. All other scenarios must pass; a check here that passes, too.

const ownTool = 'calls a tool that only the server of the suite has';
const ownPrompt = 'gets a prompt that only the server of the suite has';
const ownResource = 'reads a resource that only the server of the suite has';
const media = 'our tools answer in text and structure: no images, sound or embedded files';
const noState = 'our forms need no state between two calls';
const onlyForms = 'of clients we ask for forms alone: no sampling, no roots';

/** Scenarios of the product as it stands, by name. */
export const left = {
  'logging-set-level':
    'optional capability; our log goes to standard error, for the person who runs the server',
  'tools-call-with-logging': 'optional capability: as above',
  'resources-subscribe':
    'optional capability; agents and topology are asked for when they are wanted',
  'resources-unsubscribe': 'optional capability: as above',
  'tools-call-simple-text': ownTool,
  'tools-call-error': ownTool,
  'tools-call-with-progress': ownTool,
  'tools-call-elicitation': ownTool,
  'elicitation-sep1034-defaults': ownTool,
  'elicitation-sep1330-enums': ownTool,
  'input-required-result-basic-elicitation': ownTool,
  'input-required-result-result-type': ownTool,
  'input-required-result-capability-check':
    'wants a request for sampling; of clients we ask for forms alone',
  'input-required-result-ignore-extra-params': ownTool,
  'input-required-result-missing-input-response': ownTool,
  'input-required-result-validate-input': ownTool,
  'tools-call-image': media,
  'tools-call-audio': media,
  'tools-call-embedded-resource': media,
  'tools-call-mixed-content': media,
  'tools-call-sampling': onlyForms,
  'input-required-result-basic-sampling': onlyForms,
  'input-required-result-basic-list-roots': onlyForms,
  'input-required-result-multiple-input-requests': onlyForms,
  'input-required-result-request-state': noState,
  'input-required-result-multi-round': noState,
  'input-required-result-tampered-state': noState,
  'input-required-result-non-tool-request': ownPrompt,
  'json-schema-2020-12': ownTool,
  'http-custom-header-server-validation': 'no tool of ours has arguments in headers (x-mcp-header)',
  'server-sse-polling':
    'optional; streams are not resumed: a call that lost its stream is asked again',
  'tasks-required-task-error': 'no tool of ours needs a client that can come back',
  'completion-complete': 'completes an argument of a prompt that only the server of the suite has',
  'prompts-get-simple': ownPrompt,
  'prompts-get-with-args': ownPrompt,
  'prompts-get-embedded-resource': ownPrompt,
  'prompts-get-with-image': ownPrompt,
  'resources-read-text': ownResource,
  'resources-read-binary': ownResource,
  'resources-templates-read': ownResource,
};

/** Single checks of scenarios that apply otherwise: `scenario:check`. */
export const leftChecks = {
  'server-stateless:sep-2575-server-rejects-undeclared-capability': ownTool,
  'server-stateless:sep-2575-missing-capability-http-400': ownTool,
  'server-stateless:sep-2575-http-server-no-independent-requests-on-stream': ownTool,
  'server-stateless:sep-2575-server-no-log-without-loglevel': ownTool,
  'tasks-lifecycle:sep-2663-tasks-get-status-failed':
    'wants a tool that ends in an error of the protocol; ours end in an answer or a coded failure',
};

/** Scenarios that our entrances and our way of calling tools pass with tools of the suite, by revision. */
export const rehearsals = {
  '2025-11-25': [
    'tools-call-simple-text',
    'tools-call-error',
    'tools-call-with-progress',
    'tools-call-elicitation',
    'elicitation-sep1034-defaults',
  ],
  '2026-07-28': [
    'tools-call-simple-text',
    'tools-call-error',
    'tools-call-with-progress',
    'input-required-result-basic-elicitation',
    'input-required-result-result-type',
    'input-required-result-ignore-extra-params',
    'input-required-result-missing-input-response',
    'input-required-result-validate-input',
    'tasks-lifecycle',
    'tasks-capability-negotiation',
    'tasks-wire-fields',
    'tasks-request-state-removal',
    'tasks-mrtr-input',
    'tasks-request-headers',
    'tasks-dispatch-and-envelope',
    'tasks-status-notifications',
    'tasks-mrtr-composition',
  ],
};
