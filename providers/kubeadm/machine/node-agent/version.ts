/**
 * Version of the node agent: its program, its unit and the installers that it calls. Raised with every change of
 * their text, for it is what tells foresail that a machine has to get them anew.
 */
export const AGENT_VERSION = "1.1.0";
