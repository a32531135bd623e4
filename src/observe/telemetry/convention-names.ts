// Names of OpenTelemetry's conventions for GenAI and MCP (semantic-conventions-genai 0.1, all of them still in development), and
// our own beside them. Copied, so that no package of theirs has to be installed.

export const GEN_AI_OPERATION = 'gen_ai.operation.name'
export const GEN_AI_TOOL_NAME = 'gen_ai.tool.name'
export const GEN_AI_TOOL_TYPE = 'gen_ai.tool.type'
export const GEN_AI_TOOL_CALL_ID = 'gen_ai.tool.call.id'
export const EXECUTE_TOOL = 'execute_tool'
export const MCP_METHOD = 'mcp.method.name'
export const TOOLS_CALL = 'tools/call'
export const ERROR_TYPE = 'error.type'

export const EXECUTE_TOOL_DURATION = 'gen_ai.execute_tool.duration'
export const MCP_SERVER_DURATION = 'mcp.server.operation.duration'
export const MCP_CLIENT_DURATION = 'mcp.client.operation.duration'

/** Joins a span with the records of its call, which say who called and with what. */
export const CALL_ID = 'lockgate.call.id'
export const RUN_ID = 'lockgate.run.id'
export const ENTRANCE = 'lockgate.entrance'
export const SOURCE = 'lockgate.tool.source'
export const VERSION_OF_TOOL = 'lockgate.tool.version'
export const EFFECT = 'lockgate.effect'
export const DECISION = 'lockgate.decision'
export const RULE = 'lockgate.rule'
export const POLICY_VERSION = 'lockgate.policy.version'
export const ATTEMPTS = 'lockgate.attempts'
export const EFFECT_STATE = 'lockgate.error.effect'
export const CACHED = 'lockgate.cached'
export const TRUNCATED = 'lockgate.truncated'
