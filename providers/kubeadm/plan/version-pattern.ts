/** Versions that the node agent takes, as a regular expression that bash and JavaScript read alike: each is the name of a file. */
export const AGENT_VERSION_PATTERN = "^[0-9A-Za-z][0-9A-Za-z.+:~-]*$";
