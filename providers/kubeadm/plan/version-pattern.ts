/**
 * Versions that the node agent accepts. Bash and JavaScript read this regular expression alike; each match is a file
 * name.
 */
export const AGENT_VERSION_PATTERN = "^[0-9A-Za-z][0-9A-Za-z.+:~-]*$";
