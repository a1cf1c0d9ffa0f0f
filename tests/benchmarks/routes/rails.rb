# Routes of a config/routes.rb as actionpack draws them, without the application: `METHOD path controller#action name`.
#
#     ruby rails.rb config/routes.rb
#
# Constants of the application become empty classes, methods that a library adds to the mapper run their block. Lines
# that need more (`require`, `Regexp.union` of a constant) are to be taken out of a copy first.
require "logger"
require "action_controller"
require "action_dispatch"

ROUTES = ActionDispatch::Routing::RouteSet.new

class Anything
  def method_missing(*) = Anything.new
  def respond_to_missing?(*) = true
  def to_str = "x"
  def to_s = "x"
end

class Application
  def self.routes = ROUTES
  def self.config = Anything.new
  def self.method_missing(*) = Anything.new
end

class Environment
  def development? = true
  def method_missing(*) = false
end

module Rails
  def self.application = Application
  def self.env = Environment.new
  def self.root = Pathname.new(Dir.pwd)
end

class Module
  def const_missing(name)
    const_set(name, Class.new { def self.call(*) = [200, {}, []]; def self.method_missing(*) = self; def method_missing(*) = self })
  end
end

class ActionDispatch::Routing::Mapper
  def devise_for(*) = nil
  def method_missing(_, *, &block) = block && instance_exec(&block)
end

load ARGV[0]
ROUTES.routes.reject(&:internal).each do |route|
  to = route.defaults[:controller] ? route.defaults.values_at(:controller, :action).join("#") : "-"
  path = route.path.spec.to_s.delete_suffix("(.:format)")
  verbs = route.verb.empty? ? ["ANY"] : route.verb.split("|")
  verbs.each { |verb| puts [verb, path, to, route.name || "-"].join(" ") }
end
