-- What the shop's customers ask for, for wrk: the same mix as that of the bundled load.
local random = math.random
math.randomseed(20210713)

local function path()
  local kind, user = random(0, 99), random(0, 199)
  -- The smaller of two draws: some words and products are asked for more often than others, as in any shop.
  local word = math.min(random(0, 99), random(0, 99))
  if kind < 30 then return "/profile?user=" .. user end
  if kind < 55 then return "/feed?user=" .. user end
  if kind < 75 then return "/search?word=word" .. word end
  if kind < 85 then return "/checkout?user=" .. user .. "&product=" .. word .. "&quantity=2" end
  return "/recommendations?user=" .. user
end

request = function()
  return wrk.format("GET", path())
end
