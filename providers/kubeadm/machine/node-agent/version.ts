/**
 * Version of the node agent: its program, its unit and the installers that it calls. Raise it with every change of
 * their text, since foresail reinstalls them on a machine only when it changes.
 */
export const AGENT_VERSION = "1.1.0";
